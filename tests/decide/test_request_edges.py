"""Requests, word by word: what each leads to in every state that it may meet."""

import pytest

from codehub.decide.plan import plan
from codehub.decide.request import home_is_lost
from codehub.model.conditions import Condition, Reason
from codehub.model.plans import Answer, Begin, Dismiss, Plan
from codehub.model.states import Desired, ErrorReason, Operation, Phase, Step
from codehub.model.workspace import RequestKind, Workspace
from tests.decide.builders import (
    HOME,
    KEY,
    OLDER_KEY,
    archive_gone,
    archived,
    circumstances,
    container_seen,
    in_error,
    pending,
    request,
    running,
    seeing,
    standby,
    volume_gone,
)

RECOVER = request(RequestKind.RECOVER)
START_EMPTY = request(RequestKind.START_EMPTY)
RESTORE = request(RequestKind.RESTORE, OLDER_KEY)
FORK = request(RequestKind.FORK, OLDER_KEY)

LOST = [ErrorReason.DATA_LOST, ErrorReason.ARCHIVE_CORRUPTED]
NOT_LOST = [reason for reason in ErrorReason if reason not in LOST]


def planned(row: Workspace, **looks: Condition | None) -> Plan:
    return plan(seeing(row, **looks), circumstances())


def lost(row: Workspace) -> Workspace:
    """The home was there, and is seen to be gone."""
    return seeing(row, volume=volume_gone())


class TestRecover:
    @pytest.mark.parametrize("row", [standby(request=RECOVER), running(request=RECOVER), archived(request=RECOVER)])
    def test_it_is_dismissed_where_nothing_is_wrong(self, row: Workspace) -> None:
        assert planned(row) == Dismiss(RECOVER, "it is not in ERROR")

    @pytest.mark.parametrize("reason", [reason for reason in ErrorReason if reason is not ErrorReason.DATA_LOST])
    def test_it_judges_again_with_everything_remembered(self, reason: ErrorReason) -> None:
        row = in_error(reason, error_count=3, request=RECOVER, archive_key=OLDER_KEY)
        assert planned(row) == Answer(RECOVER, HOME, OLDER_KEY, done=True)

    def test_it_chooses_nothing_for_the_owner_of_a_lost_home(self) -> None:
        row = lost(in_error(ErrorReason.DATA_LOST, request=RECOVER, archive_key=KEY))
        assert planned(row) == Answer(RECOVER, HOME, KEY)

    @pytest.mark.parametrize("seen", [Reason.CONTAINER_RUNNING, Reason.CONTAINER_EXITED])
    def test_it_takes_a_container_without_its_volume_away(self, seen: Reason) -> None:
        stop = Begin(Operation.STOPPING, Step.STOP, consumes=RECOVER)
        row = in_error(ErrorReason.CONTAINER_WITHOUT_VOLUME, request=RECOVER)
        assert planned(lost(row), container=container_seen(seen)) == stop
        homeless = archived(phase=Phase.ERROR, error_reason=ErrorReason.CONTAINER_WITHOUT_VOLUME, request=RECOVER)
        assert planned(homeless, container=container_seen(seen)) == stop

    def test_it_leaves_a_container_on_its_volume_alone(self) -> None:
        row = in_error(ErrorReason.TIMEOUT, request=RECOVER)
        assert planned(row, container=container_seen()) == Answer(RECOVER, HOME, None)


class TestStartEmpty:
    @pytest.mark.parametrize("reason", LOST)
    def test_a_lost_home_is_given_up_by_its_owners_word(self, reason: ErrorReason) -> None:
        assert planned(lost(in_error(reason, request=START_EMPTY, archive_key=KEY))) == Answer(START_EMPTY, None, None)
        asleep = archived(phase=Phase.ERROR, error_reason=reason, request=START_EMPTY)
        assert planned(asleep, archive=archive_gone()) == Answer(START_EMPTY, None, None)

    @pytest.mark.parametrize("reason", NOT_LOST)
    def test_any_other_error_gives_up_no_home(self, reason: ErrorReason) -> None:
        row = in_error(reason, error_count=3, request=START_EMPTY)
        assert planned(row) == Dismiss(START_EMPTY, "its home is not lost")

    @pytest.mark.parametrize("row", [standby(request=START_EMPTY), pending(request=START_EMPTY)])
    def test_a_workspace_in_order_gives_up_no_home(self, row: Workspace) -> None:
        assert planned(row) == Dismiss(START_EMPTY, "its home is not lost")

    @pytest.mark.parametrize("reason", LOST)
    def test_a_home_that_has_come_back_is_not_given_up(self, reason: ErrorReason) -> None:
        assert planned(in_error(reason, request=START_EMPTY)) == Dismiss(START_EMPTY, "its home is not lost")

    def test_a_loss_that_was_recorded_needs_no_other_look(self) -> None:
        row = in_error(ErrorReason.DATA_LOST, request=START_EMPTY)
        assert planned(row, volume=None) == Answer(START_EMPTY, None, None)

    def test_a_loss_that_was_seen_needs_no_record(self) -> None:
        assert planned(lost(standby(request=START_EMPTY))) == Answer(START_EMPTY, None, None)

    def test_a_home_that_was_not_looked_at_is_not_lost(self) -> None:
        row = in_error(ErrorReason.TIMEOUT, request=START_EMPTY)
        assert planned(row, volume=None) == Dismiss(START_EMPTY, "its home is not lost")

    @pytest.mark.parametrize("reason", ErrorReason)
    def test_whether_it_can_be_given_up_is_known_before_it_is_asked_for(self, reason: ErrorReason) -> None:
        assert home_is_lost(lost(in_error(reason))) is True
        assert home_is_lost(seeing(in_error(reason), volume=None)) is (reason in LOST)
        assert home_is_lost(in_error(reason)) is False
        assert home_is_lost(lost(standby(error_reason=reason))) is False


class TestRestore:
    def test_it_must_name_a_generation(self) -> None:
        nameless = request(RequestKind.RESTORE)
        assert planned(archived(request=nameless)) == Dismiss(nameless, "it names no generation")

    @pytest.mark.parametrize("row", [archived(request=RESTORE), pending(request=RESTORE)])
    def test_a_sleeper_changes_its_archive(self, row: Workspace) -> None:
        assert planned(row) == Answer(RESTORE, None, OLDER_KEY, done=True)

    @pytest.mark.parametrize("reason", LOST)
    def test_a_lost_home_is_replaced_by_its_owners_word(self, reason: ErrorReason) -> None:
        assert planned(lost(in_error(reason, request=RESTORE, archive_key=KEY))) == Answer(RESTORE, None, OLDER_KEY)

    @pytest.mark.parametrize("reason", LOST)
    def test_a_home_that_has_come_back_is_put_away_first(self, reason: ErrorReason) -> None:
        row = in_error(reason, request=RESTORE, archive_key=KEY)
        assert planned(row) == Answer(RESTORE, HOME, KEY, done=False)

    @pytest.mark.parametrize("reason", NOT_LOST)
    def test_another_error_is_cleared_and_the_home_put_away_first(self, reason: ErrorReason) -> None:
        row = in_error(reason, error_count=3, request=RESTORE, archive_key=KEY)
        assert planned(row) == Answer(RESTORE, HOME, KEY, done=False)

    def test_a_living_home_is_stopped_and_archived_first(self) -> None:
        assert planned(running(request=RESTORE)) == Begin(Operation.STOPPING, Step.STOP)
        row = standby(desired_state=Desired.RUNNING, request=RESTORE)
        assert planned(row) == Begin(Operation.ARCHIVING, Step.ARCHIVE)

    def test_a_passing_fault_does_not_keep_the_home_from_being_put_away(self) -> None:
        row = standby(error_reason=ErrorReason.ACTION_FAILED, error_count=1, request=RESTORE)
        assert planned(row) == Begin(Operation.ARCHIVING, Step.ARCHIVE)


class TestFork:
    def test_it_must_name_a_generation(self) -> None:
        nameless = request(RequestKind.FORK)
        assert planned(pending(request=nameless)) == Dismiss(nameless, "it names no generation")

    def test_a_new_workspace_begins_with_the_archive_of_its_source(self) -> None:
        assert planned(pending(request=FORK)) == Answer(FORK, None, OLDER_KEY, done=True)

    @pytest.mark.parametrize("row", [standby(request=FORK), archived(request=FORK), running(request=FORK)])
    def test_a_workspace_with_a_home_is_no_fork(self, row: Workspace) -> None:
        assert planned(row) == Dismiss(FORK, "it has a home of its own already")
