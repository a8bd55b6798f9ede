"""The list of all cases: each is there once, and any stretch of it can be gone on with."""

from itertools import combinations, islice, product

from tests.simulation.faults import Fault
from tests.simulation.operations import OPERATIONS
from tests.simulation.schedules import KINDS, all_numbers, by_turns, case_of, cases, count, steps_of


def test_every_two_faults_at_any_two_steps_are_one_case() -> None:
    expected = {
        tuple(zip(places, kinds, strict=True))
        for places in combinations(range(steps_of("stop")), 2)
        for kinds in product(KINDS, repeat=2)
    }
    listed = [each.faults for each in cases("stop", 2)]
    assert len(listed) == len(expected) == count("stop", 2)
    assert set(listed) == expected


def test_operations_that_begin_alike_differ_by_a_change_of_mind() -> None:
    kinds = {tuple(fault for _, fault in each.faults or ()) for each in cases("empty_or_delete", 2)}
    assert all(Fault.WISH in each for each in kinds)
    assert len(kinds) == len(KINDS) ** 2 - (len(KINDS) - 1) ** 2


def test_what_goes_wrong_three_times_is_met_once_from_all_over_each_operation() -> None:
    numbers = list(islice(by_turns(3), 10_000))
    assert len(set(numbers)) == len(numbers)
    assert {name for name, _, _ in numbers} == set(OPERATIONS)
    created = [case_of(each).faults or () for each in numbers[:2_000] if each[0] == "create"]
    first_steps = {faults[0][0] for faults in created}
    assert len(first_steps) > steps_of("create") / 2


def test_a_list_that_is_gone_on_with_is_the_same_list() -> None:
    assert list(islice(all_numbers(), 300, 400)) == list(islice(all_numbers(), 400))[300:]
