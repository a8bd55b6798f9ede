"""What the collector may take, keeps, notes and forgets (contract 9)."""

from datetime import datetime, timedelta
from uuid import UUID

import pytest

from codehub.decide.orphans import (
    CollectPolicy,
    Found,
    Generation,
    Ground,
    Kept,
    OrphanKind,
    Round,
    collect,
    named_archives,
)
from codehub.model.conditions import Condition, Conditions
from codehub.model.states import Desired, ErrorReason, Operation, Phase, Step
from codehub.model.workspace import RequestKind, Workspace, archive_key
from tests.decide.builders import (
    ARCHIVE_OP_ID,
    HOME,
    KEY,
    MADE,
    OLDER_KEY,
    T0,
    WORKSPACE_ID,
    after,
    archive_gone,
    archive_seen,
    archived,
    in_error,
    no_container,
    pending,
    request,
    running,
    standby,
    under_way,
    volume_gone,
    volume_seen,
)

GRACE = timedelta(hours=2)
POLICY = CollectPolicy(grace=GRACE, max_share=0.05, generations=3, undelete_window=timedelta(days=7))
STRANGER = UUID(int=99)
FORK = UUID(int=77)
OLD = "superseded"

ARCHIVE = Found(OrphanKind.ARCHIVE, KEY, WORKSPACE_ID)
VOLUME = Found(OrphanKind.VOLUME, OLD, WORKSPACE_ID)


def found_archive(key: str, workspace_id: UUID = WORKSPACE_ID) -> Found:
    return Found(OrphanKind.ARCHIVE, key, workspace_id)


def generation(number: int, *, kept: bool = False, workspace_id: UUID = WORKSPACE_ID) -> Generation:
    """A generation made so many minutes after T0."""
    return Generation(archive_key(workspace_id, UUID(int=number)), workspace_id, after(60 * number), kept)


def ground(
    *rows: Workspace,
    generations: tuple[Generation, ...] = (),
    whole: tuple[str, ...] = (HOME, KEY),
    shared: bool = False,
    stand_ins: tuple[str, ...] = (),
) -> Ground:
    """These rows, and a look that found the home and the archive that they name."""
    named = named_archives(rows, generations, POLICY, T0)
    return Ground({row.id: row for row in rows}, named, frozenset(whole), shared, frozenset(stand_ins))


def judged(found: Found, on: Ground) -> str | None:
    """What protects the thing in a round where its grace is long over; None where it is taken."""
    round_ = collect([found], on, {found: after(-(10**8))}, POLICY, T0)
    if round_.take:
        assert round_ == Round(take=(found,), note=(), wait=(), forget=(), keep=(), due=1, halted=None)
        return None
    (kept,) = round_.keep
    assert round_ == Round(
        take=(), note=(), wait=(), forget=(found,), keep=(Kept(found, kept.why),), due=0, halted=None
    )
    return kept.why


def why_kept(found: Found, *rows: Workspace, generations: tuple[Generation, ...] = ()) -> str | None:
    return judged(found, ground(*rows, generations=generations))


class TestArchives:
    def test_the_current_one_stays(self) -> None:
        assert why_kept(ARCHIVE, archived()) == "it is the current archive"

    def test_an_older_one_that_nothing_points_to_goes(self) -> None:
        assert why_kept(found_archive(OLDER_KEY), archived()) is None

    def test_the_one_being_made_stays(self) -> None:
        row = standby(operation=Operation.ARCHIVING, archive_op_id=ARCHIVE_OP_ID)
        assert why_kept(ARCHIVE, row) == "it is being made"

    def test_the_last_one_stays_when_its_making_is_over(self) -> None:
        row = standby(archive_op_id=ARCHIVE_OP_ID)
        assert why_kept(ARCHIVE, row) == "it was made last"
        made = Generation(ARCHIVE.key, WORKSPACE_ID, T0, kept=False)
        assert why_kept(ARCHIVE, row, generations=(made,)) == "it is among the newest 3"

    def test_one_of_an_upload_that_was_given_up_goes(self) -> None:
        assert why_kept(ARCHIVE, standby(archive_op_id=UUID(int=40))) is None

    def test_one_that_a_request_names_stays(self) -> None:
        row = running(request=request(RequestKind.RESTORE, OLDER_KEY))
        assert why_kept(found_archive(OLDER_KEY), row) == "it is asked for"

    def test_a_request_that_names_none_protects_none(self) -> None:
        assert why_kept(found_archive(OLDER_KEY), running(request=request(RequestKind.RECOVER))) is None

    def test_every_one_of_a_workspace_in_error_stays(self) -> None:
        assert why_kept(found_archive("other"), in_error(ErrorReason.DATA_LOST)) == "its workspace is in ERROR"

    @pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.ERROR])
    def test_other_phases_protect_nothing_by_themselves(self, phase: Phase) -> None:
        assert why_kept(found_archive("other"), standby(phase=phase)) is None

    def test_one_without_a_row_goes(self) -> None:
        assert why_kept(found_archive("other", STRANGER), archived()) is None

    def test_one_that_a_fork_stands_on_stays_although_its_own_workspace_is_gone(self) -> None:
        fork = archived(id=FORK)
        assert why_kept(ARCHIVE, fork) == "it is the current archive"
        assert why_kept(ARCHIVE, fork, archived(archive_key=OLDER_KEY)) == "it is the current archive"

    def test_one_that_is_asked_for_by_a_fork_stays(self) -> None:
        assert why_kept(ARCHIVE, pending(id=FORK, request=request(RequestKind.FORK, KEY))) == "it is asked for"

    def test_the_upload_of_a_fork_is_named_by_the_fork(self) -> None:
        fork = standby(id=FORK, operation=Operation.ARCHIVING, archive_op_id=ARCHIVE_OP_ID)
        assert why_kept(ARCHIVE, fork) is None
        assert why_kept(found_archive(archive_key(FORK, ARCHIVE_OP_ID), FORK), fork) == "it is being made"


class TestGenerations:
    FIVE = tuple(generation(number) for number in (3, 1, 5, 2, 4))

    @pytest.mark.parametrize("number", [3, 4, 5])
    def test_the_newest_stay(self, number: int) -> None:
        found = found_archive(generation(number).key)
        assert why_kept(found, standby(), generations=self.FIVE) == "it is among the newest 3"

    @pytest.mark.parametrize("number", [1, 2])
    def test_those_before_the_newest_go(self, number: int) -> None:
        assert why_kept(found_archive(generation(number).key), standby(), generations=self.FIVE) is None

    def test_one_that_its_owner_keeps_stays_however_old(self) -> None:
        generations = (*self.FIVE, generation(0, kept=True))
        assert why_kept(found_archive(generation(0).key), standby(), generations=generations) == "its owner keeps it"

    def test_one_that_its_owner_keeps_stays_without_its_row(self) -> None:
        kept = generation(1, kept=True)
        assert why_kept(found_archive(kept.key), generations=(kept,)) == "its owner keeps it"

    def test_those_of_others_do_not_count(self) -> None:
        others = tuple(generation(number, workspace_id=FORK) for number in (6, 7, 8))
        found = found_archive(generation(5).key)
        rows = standby(), standby(id=FORK)
        assert why_kept(found, *rows, generations=(generation(5), *others)) == "it is among the newest 3"

    def test_the_newest_of_a_workspace_without_a_row_go(self) -> None:
        assert why_kept(found_archive(generation(5).key), generations=self.FIVE) is None


class TestDeletedWorkspaces:
    @staticmethod
    def deleted(seconds_ago: float) -> Workspace:
        return archived(desired_state=Desired.DELETED, phase=Phase.DELETED, deleted_at=after(-seconds_ago))

    WEEK = 7 * 24 * 3600

    def test_every_archive_stays_within_the_undelete_window(self) -> None:
        within = self.deleted(self.WEEK - 0.001)
        assert why_kept(found_archive("other"), within) == "its workspace can still be brought back"
        assert why_kept(ARCHIVE, within) == "it is the current archive"

    def test_every_archive_goes_after_it(self) -> None:
        past = self.deleted(self.WEEK)
        newest = generation(5)
        assert why_kept(ARCHIVE, past) is None
        assert why_kept(found_archive(newest.key), past, generations=(newest,)) is None

    def test_the_window_holds_for_the_source_of_a_deleted_fork_too(self) -> None:
        fork = archived(id=FORK, desired_state=Desired.DELETED, phase=Phase.DELETED, deleted_at=after(-self.WEEK + 1))
        assert why_kept(ARCHIVE, fork) == "it is the current archive"

    def test_a_deleted_workspace_does_not_end_the_protection_by_those_after_it(self) -> None:
        assert why_kept(ARCHIVE, self.deleted(self.WEEK), archived(id=FORK)) == "it is the current archive"

    def test_an_error_from_before_its_deletion_protects_nothing_after_the_window(self) -> None:
        row = in_error(ErrorReason.DATA_LOST, desired_state=Desired.DELETED, deleted_at=after(-self.WEEK))
        assert why_kept(found_archive("other"), row) is None


class TestVolumes:
    def test_the_home_stays(self) -> None:
        assert why_kept(Found(OrphanKind.VOLUME, HOME, WORKSPACE_ID), standby()) == "it is the home"

    @pytest.mark.parametrize(
        "rows",
        [
            (),
            (standby(home_volume=OLD),),
            (in_error(ErrorReason.DATA_LOST),),
            (under_way(standby(), Operation.ARCHIVING, Step.ARCHIVE),),
        ],
    )
    def test_what_stands_in_for_a_home_goes_where_a_home_would_stay(self, rows: tuple[Workspace, ...]) -> None:
        assert why_kept(VOLUME, *rows) is not None
        assert judged(VOLUME, ground(*rows, stand_ins=(OLD,))) is None

    def test_an_older_incarnation_goes_where_the_home_was_seen(self) -> None:
        assert why_kept(VOLUME, standby()) is None
        assert why_kept(VOLUME, running()) is None

    def test_one_that_was_let_go_of_goes_where_the_archive_was_seen(self) -> None:
        assert why_kept(VOLUME, archived()) is None

    @pytest.mark.parametrize("volume", [None, volume_gone(), volume_seen("another"), volume_seen(at=after(-1))])
    def test_it_stays_where_the_home_was_not_seen(self, volume: Condition | None) -> None:
        row = standby(conditions=Conditions(volume=volume, container=no_container()), acted_at=T0)
        assert why_kept(VOLUME, row) == "it may hold the only copy of a home"

    @pytest.mark.parametrize("archive", [None, archive_gone(), archive_seen(OLDER_KEY)])
    def test_it_stays_where_the_archive_was_not_seen(self, archive: Condition | None) -> None:
        row = archived(conditions=Conditions(archive=archive, container=no_container()))
        assert why_kept(VOLUME, row) == "it may hold the only copy of a home"

    def test_it_stays_where_no_home_is_known(self) -> None:
        assert why_kept(VOLUME, pending()) == "it may hold the only copy of a home"

    @pytest.mark.parametrize("operation", [operation for operation in Operation if operation is not Operation.NONE])
    def test_it_stays_during_an_operation(self, operation: Operation) -> None:
        assert why_kept(VOLUME, standby(operation=operation)) == "an operation is under way"

    def test_the_one_that_an_operation_makes_stays(self) -> None:
        row = under_way(archived(), Operation.RESTORING, Step.RESTORE, op_volume=MADE)
        assert why_kept(Found(OrphanKind.VOLUME, MADE, WORKSPACE_ID), row) == "an operation is under way"

    def test_it_stays_while_its_workspace_is_in_error(self) -> None:
        assert why_kept(VOLUME, in_error(ErrorReason.TIMEOUT)) == "its workspace is in ERROR"

    @pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.DELETED])
    def test_it_stays_while_its_workspace_is_being_deleted(self, phase: Phase) -> None:
        row = archived(desired_state=Desired.DELETED, phase=phase)
        assert why_kept(VOLUME, row) == "its workspace is being deleted"

    def test_it_goes_once_its_workspace_is_deleted(self) -> None:
        assert why_kept(VOLUME, pending(desired_state=Desired.DELETED, phase=Phase.DELETED)) is None

    def test_the_home_of_a_row_stays_even_if_the_row_says_deleted(self) -> None:
        row = standby(desired_state=Desired.DELETED, phase=Phase.DELETED)
        assert why_kept(Found(OrphanKind.VOLUME, HOME, WORKSPACE_ID), row) == "it is the home"

    def test_it_stays_where_no_row_knows_it(self) -> None:
        assert why_kept(Found(OrphanKind.VOLUME, OLD, STRANGER), standby()) == "nobody knows whose home it is"


class TestTheLookOfThisRound:
    """An older look may have been right: a volume goes by what was seen just now as well."""

    def test_an_older_incarnation_stays_where_the_home_is_not_listed(self) -> None:
        assert judged(VOLUME, ground(standby(), whole=(KEY,))) == "it may hold the only copy of a home"

    def test_one_that_was_let_go_of_stays_where_the_archive_or_its_marker_is_not_listed(self) -> None:
        assert judged(VOLUME, ground(archived(), whole=(HOME,))) == "it may hold the only copy of a home"

    def test_a_home_that_stands_elsewhere_needs_no_archive(self) -> None:
        assert judged(VOLUME, ground(standby(), whole=(HOME,))) is None

    def test_an_archived_home_needs_no_volume(self) -> None:
        assert judged(VOLUME, ground(archived(), whole=(KEY,))) is None


class TestSharedStores:
    """Two installations on one store know nothing of each other's rows."""

    OTHERS = "another installation keeps archives in this store, and it may be one of those"

    @pytest.mark.parametrize("kind", [OrphanKind.ARCHIVE, OrphanKind.UPLOAD])
    def test_what_has_no_row_stays(self, kind: OrphanKind) -> None:
        found = Found(kind, "other", STRANGER)
        assert judged(found, ground(archived(), shared=True)) == self.OTHERS
        assert judged(found, ground(archived())) is None

    @pytest.mark.parametrize("kind", [OrphanKind.ARCHIVE, OrphanKind.UPLOAD])
    def test_what_is_known_to_be_ours_goes(self, kind: OrphanKind) -> None:
        assert judged(Found(kind, "other", WORKSPACE_ID), ground(archived(), shared=True)) is None

    def test_containers_and_jobs_carry_the_label_of_their_installation(self) -> None:
        for kind in (OrphanKind.CONTAINER, OrphanKind.JOB):
            assert judged(Found(kind, "other", STRANGER), ground(shared=True)) is None


@pytest.mark.parametrize("kind", [OrphanKind.UPLOAD, OrphanKind.JOB])
class TestUploadsAndJobs:
    def test_one_without_a_row_goes(self, kind: OrphanKind) -> None:
        assert why_kept(Found(kind, "left behind", STRANGER), running()) is None

    @pytest.mark.parametrize("operation", [operation for operation in Operation if operation is not Operation.NONE])
    def test_it_stays_during_an_operation(self, kind: OrphanKind, operation: Operation) -> None:
        found = Found(kind, "left behind", WORKSPACE_ID)
        assert why_kept(found, standby(operation=operation)) == "an operation is under way"

    @pytest.mark.parametrize("phase", Phase)
    def test_it_goes_where_nothing_is_being_done(self, kind: OrphanKind, phase: Phase) -> None:
        assert why_kept(Found(kind, "left behind", WORKSPACE_ID), standby(phase=phase)) is None


class TestContainers:
    def test_one_without_a_row_goes(self) -> None:
        assert why_kept(Found(OrphanKind.CONTAINER, "container-9", STRANGER), running()) is None

    @pytest.mark.parametrize("phase", Phase)
    def test_one_with_a_row_is_left_to_the_controller(self, phase: Phase) -> None:
        found = Found(OrphanKind.CONTAINER, "container-9", WORKSPACE_ID)
        assert why_kept(found, running(phase=phase)) == "its workspace is the controller's to clean up"


class TestRounds:
    @staticmethod
    def orphans(count: int) -> list[Found]:
        return [found_archive(f"orphan-{number}", STRANGER) for number in range(count)]

    def noted(self, count: int, at: datetime = T0) -> dict[Found, datetime]:
        return dict.fromkeys(self.orphans(count), at)

    def test_what_is_unprotected_for_the_first_time_is_noted_and_not_taken(self) -> None:
        orphans = self.orphans(2)
        expected = Round(take=(), note=tuple(orphans), wait=(), forget=(), keep=(), due=0, halted=None)
        assert collect(orphans, ground(), {}, POLICY, T0) == expected

    def test_before_its_grace_is_over_it_is_neither_taken_nor_noted_again(self) -> None:
        round_ = collect(self.orphans(1), ground(), self.noted(1), POLICY, T0 + GRACE - timedelta(microseconds=1))
        assert round_ == Round(take=(), note=(), wait=tuple(self.orphans(1)), forget=(), keep=(), due=0, halted=None)

    def test_when_its_grace_is_over_it_is_taken(self) -> None:
        round_ = collect(self.orphans(1), ground(), self.noted(1), POLICY, T0 + GRACE)
        assert round_ == Round(take=tuple(self.orphans(1)), note=(), wait=(), forget=(), keep=(), due=1, halted=None)

    def test_what_is_gone_is_forgotten(self) -> None:
        round_ = collect([], ground(), self.noted(1), POLICY, T0)
        assert round_ == Round(take=(), note=(), wait=(), forget=tuple(self.orphans(1)), keep=(), due=0, halted=None)

    @pytest.mark.parametrize(("due", "found"), [(3, 3), (3, 79), (4, 80), (4, 99), (5, 100), (50, 1000)])
    def test_a_round_takes_up_to_its_share_and_three_in_any_case(self, due: int, found: int) -> None:
        round_ = collect(self.orphans(found), ground(), self.noted(due), POLICY, T0 + GRACE)
        assert round_.take == tuple(self.orphans(due))
        assert round_.halted is None

    @pytest.mark.parametrize(
        ("due", "found", "allowed"), [(4, 4, 3), (4, 79, 3), (5, 80, 4), (5, 99, 4), (6, 100, 5), (51, 1000, 50)]
    )
    def test_a_round_that_would_take_more_takes_nothing_and_says_so(self, due: int, found: int, allowed: int) -> None:
        round_ = collect(self.orphans(found), ground(), self.noted(due), POLICY, T0 + GRACE)
        assert round_.take == ()
        assert round_.due == due
        assert round_.note == tuple(self.orphans(found)[due:])
        assert round_.halted == f"{due} of {found} would be deleted, more than the {allowed} that one round may take"

    def test_a_thing_that_a_listing_names_twice_counts_once(self) -> None:
        round_ = collect(self.orphans(4) * 20, ground(), self.noted(4), POLICY, T0 + GRACE)
        assert round_.halted == "4 of 4 would be deleted, more than the 3 that one round may take"

    def test_what_is_protected_again_loses_its_note(self) -> None:
        round_ = collect([ARCHIVE], ground(archived()), {ARCHIVE: after(-(10**8))}, POLICY, T0)
        assert round_.forget == (ARCHIVE,)
        assert round_.keep == (Kept(ARCHIVE, "it is the current archive"),)

    def test_an_installation_may_allow_more_in_any_round(self) -> None:
        policy = CollectPolicy(GRACE, 0.05, 3, timedelta(days=7), always_allowed=4)
        assert len(collect(self.orphans(4), ground(), self.noted(4), policy, T0 + GRACE).take) == 4

    def test_an_administrator_allows_as_many_as_were_due_for_one_round(self) -> None:
        six, policy = self.orphans(100), POLICY
        assert len(collect(six, ground(), self.noted(6), policy, T0 + GRACE, confirmed=6).take) == 6
        halted = collect(six, ground(), self.noted(7), policy, T0 + GRACE, confirmed=6)
        assert halted.take == ()
        assert halted.halted == "7 of 100 would be deleted, more than the 6 that one round may take"

    def test_what_was_confirmed_takes_nothing_from_the_share(self) -> None:
        assert len(collect(self.orphans(100), ground(), self.noted(5), POLICY, T0 + GRACE, confirmed=1).take) == 5
