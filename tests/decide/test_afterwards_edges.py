"""The phase that goes with a stored decision."""

from dataclasses import replace

import pytest

from codehub.decide.afterwards import phase_after
from codehub.model.plans import Answer, Begin, Withdraw, Withdrawal
from codehub.model.states import ErrorReason, Operation, Phase, Step
from codehub.model.workspace import RequestKind
from tests.decide.builders import (
    HOME,
    KEY,
    OLDER_KEY,
    T0,
    archive_gone,
    archived,
    container_seen,
    in_error,
    pending,
    request,
    running,
    seeing,
    standby,
    under_way,
    volume_gone,
)

RECOVER = request(RequestKind.RECOVER)
START = Begin(Operation.STARTING, Step.PULL)
STOP = Begin(Operation.STOPPING, Step.STOP)
BACK = Withdraw(Withdrawal.WISH_CHANGED)


class TestBegin:
    def test_an_operation_that_begins_leaves_the_phase_as_it_is(self) -> None:
        assert phase_after(standby(), START, 3) is Phase.STANDBY
        assert phase_after(running(), STOP, 3) is Phase.RUNNING

    def test_one_that_answers_a_request_leaves_error_behind(self) -> None:
        row = seeing(in_error(ErrorReason.CONTAINER_WITHOUT_VOLUME), volume=volume_gone(), container=container_seen())
        assert phase_after(row, replace(STOP, consumes=RECOVER), 3) is Phase.STANDBY


class TestWithdraw:
    @pytest.mark.parametrize("error_count", [0, 3])
    def test_an_operation_given_back_is_judged_at_rest_and_forgiven(self, error_count: int) -> None:
        row = under_way(standby(), Operation.ARCHIVING, Step.ARCHIVE, error_count=error_count)
        assert phase_after(replace(row, error_reason=ErrorReason.ACTION_FAILED), BACK, 3) is Phase.STANDBY

    def test_a_rule_that_was_broken_under_way_shows_once_it_is_at_rest(self) -> None:
        row = seeing(under_way(standby(), Operation.STOPPING, Step.STOP), volume=volume_gone())
        assert phase_after(row, BACK, 3) is Phase.ERROR

    def test_an_archive_that_was_only_being_made_counts_again_once_it_is_at_rest(self) -> None:
        row = seeing(under_way(archived(), Operation.CREATE_EMPTY_ARCHIVE, Step.UPLOADED), archive=archive_gone())
        assert phase_after(row, BACK, 3) is Phase.ERROR

    def test_a_deleted_workspace_needs_a_look_after_it(self) -> None:
        row = under_way(pending(deleted_at=T0), Operation.CREATE_EMPTY_ARCHIVE, Step.UPLOAD)
        assert phase_after(row, BACK, 3) is Phase.DELETING


class TestAnswer:
    def test_an_answer_forgives_the_error(self) -> None:
        row = in_error(ErrorReason.RETRY_EXCEEDED, error_count=3)
        assert phase_after(row, Answer(RECOVER, HOME, None), 3) is Phase.STANDBY

    def test_an_answer_gives_the_row_the_home_that_was_chosen(self) -> None:
        lost = seeing(in_error(ErrorReason.DATA_LOST, archive_key=KEY), volume=volume_gone())
        assert phase_after(lost, Answer(request(RequestKind.RESTORE, OLDER_KEY), None, OLDER_KEY), 3) is Phase.ARCHIVED
        assert phase_after(lost, Answer(request(RequestKind.START_EMPTY), None, None), 3) is Phase.PENDING
        assert phase_after(lost, Answer(RECOVER, HOME, KEY), 3) is Phase.ERROR

    def test_a_fork_is_archived_from_then_on(self) -> None:
        fork = Answer(request(RequestKind.FORK, OLDER_KEY), None, OLDER_KEY)
        assert phase_after(pending(), fork, 3) is Phase.ARCHIVED
        assert phase_after(archived(archive_key=None), fork, 3) is Phase.ARCHIVED
