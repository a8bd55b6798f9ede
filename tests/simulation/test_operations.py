"""Whatever goes wrong at the steps of an operation: the wish is reached, nothing is lost, and no contract is broken.

Some of what can go wrong is tried here; `python -m tests.simulation` tries all of it (docs/faults.md). A case that
fails is played again by `python -m tests.simulation.replay CASE`."""

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice

import pytest

from tests.job.campaign import LARGE
from tests.simulation.afresh import MAY_DIFFER, SHAPE, unmentioned
from tests.simulation.cases import run
from tests.simulation.faults import Case, NoSuchCase, parse
from tests.simulation.operations import OPERATIONS, run_operation
from tests.simulation.replay import replay
from tests.simulation.schedules import SELDOM, by_turns, case_of, cases, steps_of

DRAWN = 150
HISTORIES = 15
STREETS = 5
EACH = 7
"""Of all that can go wrong once, so manieth: neither the kinds of faults nor the steps come round with it."""

ONCE_WRONG = {
    "delete:22lie": "it was DELETED and named a home that was gone, which an undelete then promised",
    "delete:17crash": "DELETED became DELETING again",
    "empty_or_delete:8error,13wish": "an upload was given back; by an older look nothing was left: DELETED, DELETING",
    "empty_or_delete@731756:1cut,11wish,12crash": "the deletion waited for an upload that nobody looked at any more",
    "collect@778940:1crash,11crash,22freeze": "a restore that began late would have filled a home in use, but for the"
    " job's own look whether it is empty",
    "collect:38lie,49lie": "two listings left a container out, and the second one that was started beside it stayed",
    "history@324": "the database's clock was set back, and no look counted until it had caught up",
    "history@355": "the same, and a container stayed",
    "history@451:207death,230clock,538lie,726clock,732death": "the same, and a death was seen and never judged",
    "history@97:65error,87error,92death,104echo,120deaf,139lie": "a death that was none left a start to wait for",
    "leave:210freeze": "pages believed what a deposed leader said late",
    "leave:66clock": "the database's clock was set forward, and somebody at work was put to sleep",
}
"""What the simulation has found, by the case that found it."""


def troubles(tried: Iterator[Case]) -> list[str]:
    outcomes = [run(each) for each in tried]
    return [f"{each.case}: {each.failure}" for each in outcomes if each.failure is not None]


@pytest.mark.parametrize("name", OPERATIONS)
def test_nothing_goes_wrong_by_itself(name: str) -> None:
    assert run_operation(Case(name)).failure is None
    assert steps_of(name) >= 10


@pytest.mark.parametrize("name", OPERATIONS)
def test_any_fault_at_any_step(name: str) -> None:
    each = 1 if LARGE else EACH * SELDOM.get(name, 1)
    assert troubles(islice(cases(name, 1), None, None, each)) == []


def test_three_faults_at_any_steps() -> None:
    assert troubles(case_of(each) for each in islice(by_turns(3), DRAWN)) == []


def test_long_histories_of_many() -> None:
    assert troubles(Case("history", seed, None) for seed in range(1, HISTORIES + 1)) == []


def test_streets_in_which_people_come_and_go() -> None:
    assert troubles(Case("street", seed, None) for seed in range(1, STREETS + 1)) == []


@pytest.mark.parametrize("case", ONCE_WRONG)
def test_what_once_went_wrong_does_not_any_more(case: str) -> None:
    assert run(parse(case)).failure is None


def test_of_every_column_it_is_said_whether_a_history_may_leave_something_in_it() -> None:
    assert unmentioned() == set()
    assert not MAY_DIFFER.keys() & SHAPE.keys()


def test_a_case_is_the_same_history_wherever_it_is_played() -> None:
    told = {
        subprocess.run(
            [sys.executable, "-m", "tests.simulation.replay", "history@2"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1
    assert "trouble: none" in told.pop()


def test_a_case_is_told_step_by_step() -> None:
    story, ended_well = replay("archive:20crash,31freeze")
    assert ended_well
    assert "*** crash" in story
    assert "*** freeze" in story
    assert "case:    archive:20crash,31freeze" in story


def test_a_case_is_read_as_it_is_written() -> None:
    for text in ("archive:12crash,19freeze", "history@7", "delete@3:", "create:"):
        assert str(parse(text)) == text


@pytest.mark.parametrize("text", ["", "--", "archive:garbage", "archive:1crash,", "archive:1boom", "nothing:1crash"])
def test_what_is_no_case_is_refused_with_the_reason(text: str) -> None:
    with pytest.raises(NoSuchCase, match=r"is written like|there are .*(crash|archive)"):
        replay(text)
