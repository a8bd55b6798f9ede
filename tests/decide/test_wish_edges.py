"""What a changed wish, a request, a death or a broken rule does to a workspace, in every combination."""

from dataclasses import replace

import pytest

from codehub.decide.plan import Acting, plan
from codehub.decide.retry import after_failure
from codehub.model.conditions import Condition, Reason
from codehub.model.plans import Begin, Died, Fault, GiveUp, Rest, Retry, Withdraw, Withdrawal
from codehub.model.states import Desired, ErrorReason, Operation, Phase, Service, Step
from codehub.model.workspace import RequestKind, Workspace
from tests.decide.builders import (
    HOME,
    KEY,
    MADE,
    OLDER_KEY,
    POLICY,
    T0,
    after,
    archive_gone,
    archive_seen,
    archived,
    circumstances,
    container_seen,
    no_container,
    pending,
    request,
    running,
    seeing,
    standby,
    under_way,
    volume_gone,
)
from tests.decide.starts import STEPS

SERVES = {
    Operation.PROVISIONING: {Desired.STANDBY, Desired.RUNNING},
    Operation.RESTORING: {Desired.STANDBY, Desired.RUNNING},
    Operation.STARTING: {Desired.RUNNING},
    Operation.STOPPING: {Desired.STANDBY, Desired.ARCHIVED, Desired.DELETED},
    Operation.ARCHIVING: {Desired.ARCHIVED},
    Operation.CREATE_EMPTY_ARCHIVE: {Desired.ARCHIVED},
    Operation.DELETING: {Desired.DELETED},
}
LET_GO = (Step.RELEASE, Step.RELEASED)
ACTS = [(operation, step, wish) for operation, steps in STEPS.items() for step in steps for wish in Desired]


def doing(operation: Operation, step: Step, wish: Desired) -> Workspace:
    """An operation that all is well with, under a wish that came later."""
    if step in LET_GO:
        return under_way(archived(desired_state=wish), operation, step, op_volume=HOME)
    if operation is Operation.PROVISIONING:
        return under_way(pending(desired_state=wish), operation, step, op_volume=MADE)
    if operation is Operation.RESTORING:
        return under_way(archived(desired_state=wish), operation, step, op_volume=MADE)
    if operation is Operation.CREATE_EMPTY_ARCHIVE:
        return under_way(pending(desired_state=wish), operation, step)
    return under_way(standby(desired_state=wish, archive_key=KEY), operation, step)


def withdrawn(row: Workspace, seconds: float = 0) -> Withdrawal | None:
    planned = plan(row, circumstances(after(seconds)))
    return planned.why if isinstance(planned, Withdraw) else None


def is_interrupted(operation: Operation, step: Step, wish: Desired) -> bool:
    """The whole list: nothing else is interrupted in the middle of an attempt."""
    match operation:
        case Operation.ARCHIVING:
            awake = wish in (Desired.STANDBY, Desired.RUNNING)
            return step not in LET_GO and (awake or (step is Step.VERIFIED and wish is Desired.DELETED))
        case Operation.RESTORING:
            return wish is Desired.DELETED
        case Operation.DELETING:
            return wish is not Desired.DELETED
        case _:
            return False


@pytest.mark.parametrize(("operation", "step", "wish"), ACTS)
def test_a_changed_wish_interrupts_archives_restores_and_deletions_only(
    operation: Operation, step: Step, wish: Desired
) -> None:
    expected = Withdrawal.WISH_CHANGED if is_interrupted(operation, step, wish) else None
    assert withdrawn(doing(operation, step, wish)) is expected


@pytest.mark.parametrize(("operation", "step", "wish"), ACTS)
def test_between_attempts_every_operation_follows_a_changed_wish(
    operation: Operation, step: Step, wish: Desired
) -> None:
    row = replace(doing(operation, step, wish), next_attempt_at=after(10))
    held = step in LET_GO and wish is not Desired.DELETED
    expected = None if held or wish in SERVES[operation] else Withdrawal.WISH_CHANGED
    assert withdrawn(row, 9.999) is expected
    assert (withdrawn(row, 10) is not None) is is_interrupted(operation, step, wish)


@pytest.mark.parametrize(("operation", "step", "wish"), ACTS)
def test_while_its_registry_is_away_a_start_follows_a_changed_wish(
    operation: Operation, step: Step, wish: Desired
) -> None:
    planned = plan(doing(operation, step, wish), circumstances(away=Service.REGISTRY))
    released = step in (Step.PULL, Step.START) and wish is not Desired.RUNNING
    expected = released or is_interrupted(operation, step, wish)
    assert isinstance(planned, Withdraw) is expected


@pytest.mark.parametrize(("operation", "step", "wish"), ACTS)
def test_while_the_store_has_no_room_what_is_to_go_there_follows_a_changed_wish(
    operation: Operation, step: Step, wish: Desired
) -> None:
    planned = plan(doing(operation, step, wish), circumstances(away=Service.ARCHIVE_ROOM))
    writes = step in (Step.ARCHIVE, Step.VERIFIED, Step.RELEASE, Step.UPLOAD)
    released = writes and (wish is Desired.DELETED or (wish is not Desired.ARCHIVED and step not in LET_GO))
    expected = released or is_interrupted(operation, step, wish)
    assert isinstance(planned, Withdraw) is expected


@pytest.mark.parametrize(("operation", "step", "wish"), ACTS)
def test_a_container_that_appears_interrupts_what_takes_the_volume_away(
    operation: Operation, step: Step, wish: Desired
) -> None:
    row = doing(operation, step, wish)
    beside = seeing(row, container=container_seen(Reason.CONTAINER_STARTING))
    takes_away = operation in (Operation.ARCHIVING, Operation.DELETING)
    held = step in LET_GO and wish is not Desired.DELETED
    assert (withdrawn(beside) is Withdrawal.CONTAINER_APPEARED) is (takes_away and not held)


def test_an_archive_that_makes_room_for_an_older_generation_is_not_interrupted() -> None:
    row = replace(
        doing(Operation.ARCHIVING, Step.ARCHIVE, Desired.RUNNING), request=request(RequestKind.RESTORE, OLDER_KEY)
    )
    assert withdrawn(row) is None
    for kind in (RequestKind.RECOVER, RequestKind.START_EMPTY, RequestKind.FORK):
        assert withdrawn(replace(row, request=request(kind, OLDER_KEY))) is Withdrawal.WISH_CHANGED


class TestBrokenUnderWay:
    @pytest.mark.parametrize(
        ("row", "fault"),
        [
            (
                under_way(standby(desired_state=Desired.RUNNING), Operation.STARTING, Step.START),
                Fault(ErrorReason.DATA_LOST, "the home was there and is gone"),
            ),
            (
                under_way(archived(desired_state=Desired.RUNNING), Operation.RESTORING, Step.RESTORE, op_volume=MADE),
                Fault(ErrorReason.ARCHIVE_CORRUPTED, "the archive has another size than its marker says"),
            ),
        ],
    )
    def test_a_home_that_is_lost_under_way_ends_the_operation(self, row: Workspace, fault: Fault) -> None:
        lost = seeing(row, volume=volume_gone(), archive=archive_gone(reason=Reason.ARCHIVE_MISMATCH))
        assert plan(lost, circumstances()) == GiveUp(fault, 1)
        assert plan(replace(lost, error_count=1), circumstances()) == GiveUp(fault, 2)

    def test_a_step_that_is_not_a_sight_is_done_again(self) -> None:
        row = under_way(standby(), Operation.STARTING, Step.START)
        fault = Fault(ErrorReason.ACTION_FAILED, "it failed")
        assert after_failure(row, Step.START, fault, T0, POLICY, 0.5) == Retry(after(10), Step.START, fault)

    def test_a_deletion_that_took_too_long_is_tried_again(self) -> None:
        row = under_way(standby(desired_state=Desired.DELETED), Operation.DELETING, Step.DELETE)
        fault = Fault(ErrorReason.TIMEOUT, "'delete' did not end within its limit")
        late = circumstances(after(600), spread=1.0, acting=Acting.BUSY)
        assert plan(row, late) == Retry(after(612), Step.DELETE, fault)


class TestAtRest:
    def test_an_ide_that_ended_is_started_again_only_where_it_is_wanted(self) -> None:
        row = running(recent_deaths=(after(-60),))
        ended = seeing(row, container=container_seen(Reason.CONTAINER_EXITED))
        assert plan(ended, circumstances()) == Died(after(5), (after(-60), T0))
        stopped = plan(replace(ended, desired_state=Desired.STANDBY), circumstances())
        assert stopped == Begin(Operation.STOPPING, Step.STOP)
        noticed = plan(replace(ended, phase=Phase.STANDBY), circumstances())
        assert noticed == Begin(Operation.STARTING, Step.PULL)

    def test_a_running_ide_has_not_died(self) -> None:
        assert plan(running(), circumstances()) == Rest()

    @pytest.mark.parametrize(("reason", "error_count"), [(ErrorReason.DATA_LOST, 1), (ErrorReason.ACTION_FAILED, 3)])
    def test_a_loss_that_is_recorded_is_not_recorded_again(self, reason: ErrorReason, error_count: int) -> None:
        row = standby(error_reason=reason, error_count=error_count)
        lost = seeing(row, volume=volume_gone())
        assert plan(lost, circumstances()) == Rest()

    @pytest.mark.parametrize("error_count", [0, 2])
    def test_a_loss_is_recorded_where_no_error_is_final_yet(self, error_count: int) -> None:
        row = standby(error_reason=ErrorReason.ACTION_FAILED, error_count=error_count)
        lost = seeing(row, volume=volume_gone())
        fault = Fault(ErrorReason.DATA_LOST, "the home was there and is gone")
        assert plan(lost, circumstances()) == GiveUp(fault, error_count + 1)

    @pytest.mark.parametrize("kind", RequestKind)
    def test_a_deletion_goes_before_every_request(self, kind: RequestKind) -> None:
        row = standby(desired_state=Desired.DELETED, request=request(kind, OLDER_KEY))
        assert plan(row, circumstances()) == Begin(Operation.DELETING, Step.DELETE)

    @pytest.mark.parametrize(
        ("container", "wish", "operation"),
        [
            (container_seen(Reason.CONTAINER_EXITED), Desired.STANDBY, Operation.STOPPING),
            (container_seen(Reason.CONTAINER_STARTING), Desired.ARCHIVED, Operation.STOPPING),
            (container_seen(Reason.CONTAINER_RUNNING), Desired.DELETED, Operation.STOPPING),
            (container_seen(Reason.CONTAINER_EXITED), Desired.RUNNING, Operation.STARTING),
            (no_container(), Desired.ARCHIVED, Operation.ARCHIVING),
            (no_container(), Desired.DELETED, Operation.DELETING),
        ],
    )
    def test_nothing_rests_is_archived_or_deleted_beside_a_container(
        self, container: Condition, wish: Desired, operation: Operation
    ) -> None:
        row = standby(desired_state=wish)
        beside = seeing(row, container=container, archive=archive_seen(None))
        planned = plan(beside, circumstances())
        assert isinstance(planned, Begin)
        assert planned.operation is operation
