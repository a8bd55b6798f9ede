"""Limits: who takes a place, and whether there is one left."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

import pytest

from codehub.decide.admit import Admitted, Limits, Refused, admit, takes_a_place
from codehub.model.states import Desired, ErrorReason, Operation, Phase
from codehub.model.workspace import RequestKind
from tests.decide.builders import T0, WORKSPACE_ID, request, workspace

LIMITS = Limits(per_user=2, in_all=100)
FIRST, SECOND, THIRD = UUID(int=11), UUID(int=12), UUID(int=13)


@pytest.mark.parametrize("deleted_at", [None, T0])
@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("desired", Desired)
def test_a_living_workspace_that_is_wanted_running_and_does_not_rest_in_error_takes_a_place(
    desired: Desired, phase: Phase, deleted_at: datetime | None
) -> None:
    error = ErrorReason.TIMEOUT if phase is Phase.ERROR else None
    row = workspace(desired_state=desired, phase=phase, deleted_at=deleted_at, error_reason=error)
    expected = desired is Desired.RUNNING and phase is not Phase.ERROR and deleted_at is None
    assert takes_a_place(row) is expected


def test_a_recovery_takes_its_place_when_it_is_asked_for() -> None:
    failed = workspace(desired_state=Desired.RUNNING, phase=Phase.ERROR, error_reason=ErrorReason.TIMEOUT)
    assert not takes_a_place(failed)
    assert takes_a_place(replace(failed, request=request(RequestKind.RECOVER)))
    assert takes_a_place(replace(failed, error_reason=None))


@pytest.mark.parametrize("operation", Operation)
def test_what_is_being_done_neither_gives_nor_takes_a_place(operation: Operation) -> None:
    assert takes_a_place(workspace(desired_state=Desired.RUNNING, operation=operation))
    assert not takes_a_place(workspace(desired_state=Desired.STANDBY, operation=operation, phase=Phase.RUNNING))


def test_the_last_free_place_of_an_owner_is_given() -> None:
    assert admit(WORKSPACE_ID, [FIRST], 1, LIMITS) == Admitted()


def test_an_owner_without_a_free_place_is_refused_and_told_which_run() -> None:
    refused = admit(WORKSPACE_ID, [FIRST, SECOND], 2, LIMITS)
    assert refused == Refused(limit=2, running=(FIRST, SECOND), everybody=False)


def test_an_owner_over_a_limit_that_was_lowered_is_refused() -> None:
    refused = admit(WORKSPACE_ID, [FIRST, SECOND, THIRD], 3, LIMITS)
    assert refused == Refused(limit=2, running=(FIRST, SECOND, THIRD), everybody=False)


def test_the_last_free_place_of_the_installation_is_given() -> None:
    assert admit(WORKSPACE_ID, [FIRST], 99, LIMITS) == Admitted()


@pytest.mark.parametrize("running_in_all", [100, 101])
def test_a_full_installation_refuses_and_names_only_the_owners_own(running_in_all: int) -> None:
    refused = admit(WORKSPACE_ID, [FIRST], running_in_all, LIMITS)
    assert refused == Refused(limit=100, running=(FIRST,), everybody=True)


def test_the_owners_own_limit_is_named_before_the_installations() -> None:
    refused = admit(WORKSPACE_ID, [FIRST, SECOND], 100, LIMITS)
    assert refused == Refused(limit=2, running=(FIRST, SECOND), everybody=False)


@pytest.mark.parametrize("limits", [LIMITS, Limits(per_user=0, in_all=0)])
def test_one_that_has_its_place_is_admitted_whatever_the_limits(limits: Limits) -> None:
    assert admit(SECOND, [FIRST, SECOND], 100, limits) == Admitted()


def test_a_limit_of_nothing_admits_nobody() -> None:
    assert admit(WORKSPACE_ID, [], 0, Limits(per_user=0, in_all=100)) == Refused(0, (), everybody=False)
    assert admit(WORKSPACE_ID, [], 0, Limits(per_user=2, in_all=0)) == Refused(0, (), everybody=True)
