"""While nobody knows whether the database is the newest, no home is removed; everything else goes on."""

import pytest

from codehub.decide.plan import plan
from codehub.decide.steps import FIRST_STEP, NEEDS
from codehub.model.conditions import Conditions
from codehub.model.plans import Begin, Continue, Waiting, WaitUntil, Withdraw, Withdrawal
from codehub.model.states import Desired, Operation, Phase, Service, Step
from codehub.model.workspace import Workspace
from tests.decide.builders import (
    ARCHIVE_OP_ID,
    KEY,
    T0,
    archive_seen,
    archived,
    circumstances,
    no_container,
    standby,
    under_way,
    volume_seen,
)

DOUBTED = circumstances(away=Service.NEWEST_DATABASE)
WAITS = WaitUntil(None, Waiting.SERVICE, Service.NEWEST_DATABASE)
SEEN = Conditions(volume=volume_seen(), archive=archive_seen(), container=no_container())


def archiving(step: Step, desired: Desired = Desired.ARCHIVED) -> Workspace:
    row = standby(desired_state=desired, conditions=SEEN, archive_key=KEY, archive_op_id=ARCHIVE_OP_ID)
    return under_way(row, Operation.ARCHIVING, step)


def test_only_the_steps_that_remove_a_home_and_the_one_before_need_it() -> None:
    needing = {step for step, services in NEEDS.items() if Service.NEWEST_DATABASE in services}
    assert needing == {Step.VERIFIED, Step.RELEASE, Step.DELETE}


def test_an_archived_home_is_not_let_go_of() -> None:
    assert plan(archiving(Step.VERIFIED), circumstances()) == Continue(Step.RELEASE)
    assert plan(archiving(Step.VERIFIED), DOUBTED) == WAITS


def test_wake_wins_while_it_waits() -> None:
    row = archiving(Step.VERIFIED, Desired.RUNNING)
    assert plan(row, DOUBTED) == Withdraw(Withdrawal.WISH_CHANGED)


def test_a_home_that_was_let_go_of_before_waits_too() -> None:
    row = under_way(archived(conditions=SEEN), Operation.ARCHIVING, Step.RELEASE, op_volume="home", archive_key=KEY)
    assert plan(row, DOUBTED) == WAITS


def test_a_deletion_is_not_begun() -> None:
    row = standby(desired_state=Desired.DELETED, deleted_at=T0, phase=Phase.DELETING)
    assert plan(row, circumstances()) == Begin(Operation.DELETING, Step.DELETE)
    assert plan(row, DOUBTED) == WAITS


@pytest.mark.parametrize("operation", [each for each in FIRST_STEP if each is not Operation.DELETING])
def test_every_other_operation_begins(operation: Operation) -> None:
    assert Service.NEWEST_DATABASE not in NEEDS[FIRST_STEP[operation]]
