"""Wishes: which are written, which are there already, and which nothing could come of."""

import pytest

from codehub.decide.wish import InError, Unchanged, Write, consider, is_carried_out
from codehub.model.states import Desired, ErrorReason, Operation, Phase, Step
from codehub.model.workspace import RequestKind, Workspace
from tests.decide.builders import request, workspace

AT_WISH = [Desired.RUNNING, Desired.STANDBY, Desired.ARCHIVED]


def failed(desired: Desired) -> Workspace:
    return workspace(desired_state=desired, phase=Phase.ERROR, error_reason=ErrorReason.TIMEOUT)


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.ERROR])
@pytest.mark.parametrize("desired", AT_WISH)
def test_a_wish_that_is_there_already_writes_nothing(desired: Desired, phase: Phase) -> None:
    assert consider(workspace(desired_state=desired, phase=phase), desired) == Unchanged()


@pytest.mark.parametrize("operation", Operation)
def test_another_wish_is_written_whatever_is_under_way_and_only_running_needs_a_place(operation: Operation) -> None:
    running = workspace(desired_state=Desired.RUNNING, operation=operation)
    asleep = workspace(desired_state=Desired.STANDBY, operation=operation)
    assert consider(running, Desired.STANDBY) == Write(needs_place=False)
    assert consider(asleep, Desired.RUNNING) == Write(needs_place=True)
    assert consider(running, Desired.ARCHIVED) == Write(needs_place=False)
    assert consider(running, Desired.DELETED) == Write(needs_place=False)


@pytest.mark.parametrize("desired", AT_WISH)
def test_what_rests_in_error_cannot_be_asked_to_run_but_to_sleep(desired: Desired) -> None:
    assert consider(failed(desired), Desired.RUNNING) == InError()
    asleep = Unchanged() if desired is Desired.STANDBY else Write(needs_place=False)
    assert consider(failed(desired), Desired.STANDBY) == asleep


def test_what_is_being_recovered_can_be_asked_to_run() -> None:
    recovering = workspace(
        desired_state=Desired.STANDBY,
        phase=Phase.ERROR,
        error_reason=ErrorReason.TIMEOUT,
        request=request(RequestKind.RECOVER),
    )
    assert consider(recovering, Desired.RUNNING) == Write(needs_place=True)


@pytest.mark.parametrize("desired", AT_WISH)
def test_what_rests_in_error_can_be_wished_archived(desired: Desired) -> None:
    archived = Unchanged() if desired is Desired.ARCHIVED else Write(needs_place=False)
    assert consider(failed(desired), Desired.ARCHIVED) == archived


def test_a_wish_is_carried_out_when_the_phase_is_reached_and_nothing_is_under_way() -> None:
    assert is_carried_out(workspace(phase=Phase.RUNNING), Desired.RUNNING)
    assert not is_carried_out(workspace(phase=Phase.STANDBY), Desired.RUNNING)
    stopping = workspace(phase=Phase.RUNNING, operation=Operation.STOPPING, op_step=Step.STOP)
    assert not is_carried_out(stopping, Desired.RUNNING)
    assert not is_carried_out(workspace(phase=Phase.RUNNING, request=request(RequestKind.RECOVER)), Desired.RUNNING)
