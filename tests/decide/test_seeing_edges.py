"""Both sides of every boundary of seeing: what is believed, what is lost, what an operation is seen to have done."""

from dataclasses import replace

import pytest

from codehub.decide.judge import broken_invariant, is_terminal, judge
from codehub.decide.plan import plan
from codehub.decide.view import Container, View, view
from codehub.model.conditions import Conditions, Reason, Status
from codehub.model.plans import Begin, Continue, Fault, Finish, GiveUp, Retry, Waiting, WaitUntil
from codehub.model.states import Desired, ErrorReason, Operation, Phase, Step
from tests.decide.builders import (
    HOME,
    KEY,
    MADE,
    MOMENT,
    OLDER_KEY,
    T0,
    after,
    archive_gone,
    archive_seen,
    archived,
    circumstances,
    container_seen,
    pending,
    running,
    seeing,
    standby,
    under_way,
    volume_gone,
    volume_seen,
)

THERE = [Reason.CONTAINER_RUNNING, Reason.CONTAINER_STARTING, Reason.CONTAINER_EXITED]


class TestBelief:
    def test_a_look_counts_from_the_moment_the_act_ended(self) -> None:
        row = running(acted_at=T0)
        assert view(row).volume is Status.TRUE
        assert view(row).container is Container.READY
        early = running(acted_at=after(MOMENT))
        assert view(early).volume is Status.UNKNOWN
        assert view(early).container is Container.UNKNOWN

    @pytest.mark.parametrize("step", [Step.VERIFIED, Step.UPLOADED])
    def test_an_archive_just_stored_must_be_looked_at_again(self, step: Step) -> None:
        row = archived(op_step=step, acted_at=T0)
        assert view(row).archive is Status.TRUE
        assert view(replace(row, acted_at=after(MOMENT))).archive is Status.UNKNOWN

    @pytest.mark.parametrize("step", [None, *(step for step in Step if step not in (Step.VERIFIED, Step.UPLOADED))])
    def test_an_archive_is_otherwise_believed_whatever_was_done_to_volumes_since(self, step: Step | None) -> None:
        assert view(archived(op_step=step, acted_at=after(60))).archive is Status.TRUE

    def test_a_look_at_another_subject_says_nothing(self) -> None:
        row = replace(archived(archive_key=OLDER_KEY, home_volume="another"))
        seen = view(seeing(row, volume=volume_seen()))
        assert (seen.volume, seen.archive) == (Status.UNKNOWN, Status.UNKNOWN)

    def test_what_the_row_does_not_name_is_not_there_and_needs_no_look(self) -> None:
        assert view(replace(pending(), conditions=Conditions())) == View(
            Status.FALSE,
            volume_lost=False,
            archive=Status.FALSE,
            archive_loss=None,
            container=Container.UNKNOWN,
            surplus=(),
        )

    def test_a_volume_is_lost_after_two_seconds_of_absence(self) -> None:
        assert view(seeing(standby(), volume=volume_gone(for_seconds=2))).volume_lost
        assert not view(seeing(standby(), volume=volume_gone(for_seconds=2 - MOMENT))).volume_lost
        assert not view(seeing(standby(), volume=replace(volume_seen(), last_transition_time=after(-9)))).volume_lost

    def test_a_volume_that_never_was_the_home_is_not_lost(self) -> None:
        row = seeing(standby(home_volume=None, op_volume=MADE), volume=volume_gone(MADE))
        assert (view(row).volume, view(row).volume_lost) == (Status.FALSE, False)

    @pytest.mark.parametrize(
        ("reason", "loss"),
        [
            (Reason.ARCHIVE_MISSING, ErrorReason.DATA_LOST),
            (Reason.ARCHIVE_MISMATCH, ErrorReason.ARCHIVE_CORRUPTED),
        ],
    )
    def test_an_archive_is_lost_after_two_seconds_of_absence(self, reason: Reason, loss: ErrorReason) -> None:
        assert view(seeing(archived(), archive=archive_gone(reason=reason))).archive_loss is loss
        young = seeing(archived(), archive=archive_gone(reason=reason, for_seconds=2 - MOMENT))
        assert (view(young).archive, view(young).archive_loss) == (Status.FALSE, None)


class TestJudgement:
    def test_retries_end_at_their_number_only_with_a_reason(self) -> None:
        passing = ErrorReason.ACTION_FAILED
        assert [is_terminal(passing, count, 3) for count in (2, 3, 4)] == [False, True, True]
        assert not is_terminal(None, 3, 3)
        assert is_terminal(ErrorReason.TIMEOUT, 0, 3)

    @pytest.mark.parametrize("step", [Step.VERIFIED, Step.RELEASE, Step.RELEASED])
    def test_a_home_that_is_wholly_archived_is_not_lost(self, step: Step) -> None:
        row = under_way(standby(archive_key=KEY), Operation.ARCHIVING, step)
        gone = seeing(row, volume=volume_gone(), archive=archive_seen())
        assert broken_invariant(gone, view(gone)) is None
        other = replace(gone, operation=Operation.STARTING)
        assert broken_invariant(other, view(other)) is ErrorReason.DATA_LOST
        unseen = seeing(gone, archive=None)
        assert broken_invariant(unseen, view(unseen)) is ErrorReason.DATA_LOST

    @pytest.mark.parametrize("step", [Step.ARCHIVE, Step.VERIFY])
    def test_a_home_whose_archive_is_under_way_is_lost(self, step: Step) -> None:
        row = under_way(standby(archive_key=KEY), Operation.ARCHIVING, step)
        gone = seeing(row, volume=volume_gone(), archive=archive_seen())
        assert broken_invariant(gone, view(gone)) is ErrorReason.DATA_LOST

    @pytest.mark.parametrize("reason", THERE)
    def test_a_container_without_its_volume_breaks_a_rule(self, reason: Reason) -> None:
        for row in (
            seeing(standby(), volume=volume_gone(), container=container_seen(reason)),
            seeing(archived(), container=container_seen(reason)),
        ):
            assert broken_invariant(row, view(row)) is ErrorReason.CONTAINER_WITHOUT_VOLUME
            fault = Fault(
                ErrorReason.CONTAINER_WITHOUT_VOLUME, "a container was seen, but not the volume it should stand on"
            )
            assert plan(row, circumstances()) == GiveUp(fault, 1)

    def test_a_deleted_workspace_is_gone_once_nothing_is_left_of_it(self) -> None:
        left = standby(desired_state=Desired.DELETED)
        assert judge(left, 3) is Phase.DELETING
        lost = seeing(left, volume=volume_gone(for_seconds=0))
        assert judge(lost, 3) is Phase.DELETING, "its row still has a home"
        assert plan(lost, circumstances()) == Begin(Operation.DELETING, Step.DELETE)
        gone = replace(lost, home_volume=None)
        assert judge(gone, 3) is Phase.DELETED
        assert judge(seeing(gone, container=None), 3) is Phase.DELETING
        assert judge(seeing(gone, container=container_seen(Reason.CONTAINER_EXITED)), 3) is Phase.DELETING

    @pytest.mark.parametrize("unseen", [{"volume": None}, {"container": None}])
    def test_nobody_falls_out_of_running_because_a_listing_failed(self, unseen: dict[str, None]) -> None:
        assert judge(seeing(running(), **unseen), 3) is Phase.RUNNING
        assert judge(seeing(running(phase=Phase.STANDBY), **unseen), 3) is Phase.STANDBY


class TestEnds:
    def test_a_volume_that_was_made_becomes_the_home(self) -> None:
        row = under_way(pending(), Operation.PROVISIONING, Step.CREATED, op_volume=MADE)
        made = seeing(row, volume=volume_seen(MADE))
        assert plan(made, circumstances()) == Finish(Phase.STANDBY, MADE, None, None)
        assert plan(row, circumstances()) == WaitUntil(after(300), Waiting.OBSERVATION)

    def test_a_restored_volume_becomes_the_home_and_remembers_its_archive(self) -> None:
        row = under_way(archived(desired_state=Desired.STANDBY), Operation.RESTORING, Step.RESTORED, op_volume=MADE)
        made = seeing(row, volume=volume_seen(MADE))
        assert plan(made, circumstances()) == Finish(Phase.STANDBY, MADE, None, KEY)

    def test_a_start_ends_when_the_ide_answers_on_its_volume(self) -> None:
        row = under_way(running(restore_marker=KEY), Operation.STARTING, Step.STARTED)
        assert plan(row, circumstances()) == Finish(Phase.RUNNING, HOME, None, KEY)
        for unready in (seeing(row, volume=None), seeing(row, container=container_seen(Reason.PROBE_FAILING))):
            assert plan(unready, circumstances()) == WaitUntil(after(300), Waiting.OBSERVATION)

    @pytest.mark.parametrize("reason", [Reason.CONTAINER_EXITED, Reason.CONTAINER_NOT_FOUND])
    def test_a_start_whose_container_is_gone_or_ended_has_failed(self, reason: Reason) -> None:
        row = seeing(under_way(running(), Operation.STARTING, Step.STARTED), container=container_seen(reason))
        assert isinstance(plan(row, circumstances()), Retry)

    def test_a_stop_ends_when_no_container_is_seen(self) -> None:
        row = under_way(standby(), Operation.STOPPING, Step.STOPPED)
        assert plan(row, circumstances()) == Finish(Phase.STANDBY, HOME, None, None)
        assert plan(seeing(row, container=None), circumstances()) == WaitUntil(after(300), Waiting.OBSERVATION)
        for reason in THERE:
            assert isinstance(plan(seeing(row, container=container_seen(reason)), circumstances()), Retry)

    def test_a_stop_leaves_an_unfinished_volume_named(self) -> None:
        row = under_way(pending(), Operation.STOPPING, Step.STOPPED, op_volume=MADE)
        assert plan(row, circumstances()) == Finish(Phase.PENDING, None, MADE, None)
        left = seeing(replace(row, desired_state=Desired.DELETED, deleted_at=T0), volume=volume_seen(MADE))
        assert plan(left, circumstances()) == Finish(Phase.DELETING, None, MADE, None)

    def test_a_rule_that_is_broken_at_the_end_shows_at_once(self) -> None:
        row = seeing(under_way(standby(), Operation.STOPPING, Step.STOPPED), volume=volume_gone())
        assert plan(row, circumstances()) == Finish(Phase.ERROR, HOME, None, None)

    def test_a_restored_home_does_not_run_because_an_earlier_one_did(self) -> None:
        row = under_way(
            archived(desired_state=Desired.STANDBY, phase=Phase.RUNNING),
            Operation.RESTORING,
            Step.RESTORED,
            op_volume=MADE,
        )
        unseen = seeing(row, volume=volume_seen(MADE), container=None)
        assert plan(unseen, circumstances()) == Finish(Phase.STANDBY, MADE, None, KEY)

    def test_an_upload_ends_when_its_archive_is_seen(self) -> None:
        row = under_way(archived(), Operation.CREATE_EMPTY_ARCHIVE, Step.UPLOADED)
        assert plan(row, circumstances()) == Finish(Phase.ARCHIVED, None, None, None)
        assert plan(seeing(row, archive=None), circumstances()) == WaitUntil(after(300), Waiting.OBSERVATION)
        assert isinstance(plan(seeing(row, archive=archive_gone()), circumstances()), Retry)

    def test_a_release_follows_the_sight_of_the_archive_without_a_container(self) -> None:
        row = under_way(standby(desired_state=Desired.ARCHIVED, archive_key=KEY), Operation.ARCHIVING, Step.VERIFIED)
        whole = seeing(row, archive=archive_seen())
        assert plan(whole, circumstances()) == Continue(Step.RELEASE)
        assert plan(seeing(whole, container=None), circumstances()) == WaitUntil(after(1800), Waiting.OBSERVATION)
        assert plan(seeing(whole, archive=None), circumstances()) == WaitUntil(after(1800), Waiting.OBSERVATION)
        failed = plan(seeing(whole, archive=archive_gone()), circumstances())
        assert isinstance(failed, Retry)
        assert failed.step is Step.ARCHIVE

    def test_a_volume_let_go_of_is_deleted_only_beside_a_whole_archive_and_no_container(self) -> None:
        row = under_way(archived(), Operation.ARCHIVING, Step.RELEASE, op_volume=HOME)
        assert plan(row, circumstances()) == Continue(Step.RELEASE)
        for unsure in (seeing(row, archive=None), seeing(row, container=None)):
            assert plan(unsure, circumstances()) == WaitUntil(after(1800), Waiting.OBSERVATION)

    def test_archiving_ends_when_the_volume_is_gone_and_the_archive_there(self) -> None:
        row = under_way(archived(restore_marker=OLDER_KEY), Operation.ARCHIVING, Step.RELEASED, op_volume=HOME)
        gone = seeing(row, volume=volume_gone(for_seconds=0))
        assert plan(gone, circumstances()) == Finish(Phase.ARCHIVED, None, None, OLDER_KEY)
        for unsure in (row, seeing(gone, archive=None)):
            assert plan(unsure, circumstances()) == WaitUntil(after(1800), Waiting.OBSERVATION)
        failed = plan(seeing(row, volume=volume_seen()), circumstances())
        assert isinstance(failed, Retry)
        assert failed.step is Step.RELEASE

    def test_a_deletion_ends_when_volume_and_container_are_gone(self) -> None:
        row = under_way(standby(desired_state=Desired.DELETED, error_count=7), Operation.DELETING, Step.REMOVED)
        gone = seeing(row, volume=volume_gone(for_seconds=0))
        assert plan(gone, circumstances()) == Finish(Phase.DELETED, None, None, None)
        assert isinstance(plan(row, circumstances()), Retry)
        for unsure in (seeing(gone, volume=None), seeing(gone, container=None)):
            assert plan(unsure, circumstances()) == WaitUntil(after(600), Waiting.OBSERVATION)
