"""The tables of the operations: complete, without contradiction, and one rung at a time."""

from itertools import product

import pytest

from codehub.decide.retry import RetryPolicy
from codehub.decide.steps import AFTER_ACTION, AFTER_SIGHT, FIRST_STEP, LADDER, NEEDS, RETRY_FROM, SIGHT
from codehub.model.states import LEVEL, Desired, Operation, Phase, Service, Step
from tests.decide.builders import POLICY

LEADS_TO = {
    Operation.PROVISIONING: Phase.STANDBY,
    Operation.RESTORING: Phase.STANDBY,
    Operation.STARTING: Phase.RUNNING,
    Operation.STOPPING: Phase.STANDBY,
    Operation.ARCHIVING: Phase.ARCHIVED,
    Operation.CREATE_EMPTY_ARCHIVE: Phase.ARCHIVED,
    Operation.DELETING: Phase.DELETED,
}
RANK = {phase: rank for rank, phase in enumerate(sorted(LEVEL, key=lambda each: LEVEL[each]))}


def steps_of(operation: Operation) -> list[Step]:
    steps = [FIRST_STEP[operation]]
    while following := AFTER_ACTION.get(steps[-1]) or AFTER_SIGHT.get(steps[-1]):
        steps.append(following)
    return steps


def test_every_step_either_acts_or_sees() -> None:
    assert AFTER_ACTION.keys() | SIGHT.keys() == set(Step)
    assert not AFTER_ACTION.keys() & SIGHT.keys()


def test_every_operation_has_its_own_steps_and_ends_in_a_sight() -> None:
    assert FIRST_STEP.keys() == set(Operation) - {Operation.NONE}
    assert sorted(step for operation in FIRST_STEP for step in steps_of(operation)) == sorted(Step)
    for operation in FIRST_STEP:
        first, *_, last = steps_of(operation)
        assert first in AFTER_ACTION, operation
        assert last in SIGHT, operation


def test_the_steps_of_archiving_are_those_of_contracts_7_and_8() -> None:
    assert steps_of(Operation.ARCHIVING) == [Step.ARCHIVE, Step.VERIFY, Step.VERIFIED, Step.RELEASE, Step.RELEASED]


@pytest.mark.parametrize("operation", FIRST_STEP)
def test_a_retry_acts_again_and_never_skips_ahead(operation: Operation) -> None:
    steps = steps_of(operation)
    for place, step in enumerate(steps):
        again = RETRY_FROM.get(step, step)
        assert again in AFTER_ACTION, step
        assert steps.index(again) <= place, step
    if Step.RELEASE in steps:
        assert RETRY_FROM[Step.RELEASED] is Step.RELEASE, "past the point of no return nothing is archived again"


def test_what_a_step_needs_is_what_it_works_with() -> None:
    assert NEEDS.keys() == set(Step)
    assert {step for step in Step if Service.ARCHIVE_STORE in NEEDS[step]} == {
        Step.RESTORE,
        Step.ARCHIVE,
        Step.VERIFY,
        Step.VERIFIED,
        Step.UPLOAD,
        Step.UPLOADED,
    }
    assert {step for step in Step if Service.ARCHIVE_ROOM in NEEDS[step]} == {
        Step.ARCHIVE,
        Step.VERIFIED,
        Step.RELEASE,
        Step.UPLOAD,
    }
    assert {step for step in Step if Service.REGISTRY in NEEDS[step]} == {Step.PULL, Step.START}
    assert {step for step in Step if Service.RUNTIME not in NEEDS[step]} == {Step.UPLOAD, Step.UPLOADED}


def test_contract_5_every_rung_leads_one_level_towards_the_wish() -> None:
    for (phase, desired), operation in LADDER.items():
        if operation is Operation.DELETING:
            assert (phase, desired) == (Phase.DELETING, Desired.DELETED)
            continue
        here, there, wished = RANK[phase], RANK[LEADS_TO[operation]], RANK[Phase(desired.value)]
        assert abs(there - here) == (2 if operation is Operation.PROVISIONING else 1), (phase, desired)
        assert abs(wished - there) < abs(wished - here), (phase, desired)


def test_every_level_leads_to_every_wish() -> None:
    for phase, desired in product(LEVEL, (Desired.RUNNING, Desired.STANDBY, Desired.ARCHIVED)):
        for _ in range(3):
            phase = LEADS_TO[LADDER[phase, desired]] if (phase, desired) in LADDER else phase  # noqa: PLW2901
        assert phase.value == desired.value


def test_nothing_is_done_where_the_wish_is_fulfilled_or_error_stands() -> None:
    for phase, desired in product(Phase, Desired):
        if phase.value == desired.value or phase is Phase.ERROR:
            assert (phase, desired) not in LADDER


@pytest.mark.parametrize("operation", FIRST_STEP)
def test_every_operation_has_a_limit_and_only_a_pull_has_its_own(operation: Operation) -> None:
    for step in steps_of(operation):
        expected = POLICY.image_pull_timeout if step is Step.PULL else POLICY.timeouts[operation]
        assert RetryPolicy.timeout(POLICY, operation, step) == expected
