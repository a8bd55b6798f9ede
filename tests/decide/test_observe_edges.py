"""From looks to conditions, word by word: what is said, since when, and whether it is worth a write."""

from dataclasses import replace

import pytest

from codehub.decide.observe import observe, wants_another_look, worth_writing
from codehub.model.conditions import Condition, Conditions, Endpoint, Reason, Status
from codehub.model.sightings import ArchiveState, ContainerState, SeenArchive, SeenContainer, Sighting
from codehub.model.states import Operation
from codehub.model.workspace import Workspace
from tests.decide.builders import (
    ENDPOINT,
    HOME,
    KEY,
    MADE,
    MOMENT,
    OLDER_KEY,
    T0,
    after,
    archived,
    condition,
    no_container,
    pending,
    standby,
    volume_seen,
)

HEALTHY = Condition(Status.TRUE, Reason.ALL_CONDITIONS_MET, "", T0, None, T0)
NEVER_SEEN = Conditions()


def seen(status: Status, reason: Reason, subject: str | None, message: str = "") -> Condition:
    return Condition(status, reason, message, T0, subject, T0)


def container(
    state: ContainerState, name: str = "a", volume: str = HOME, message: str = "", endpoint: Endpoint | None = ENDPOINT
) -> SeenContainer:
    return SeenContainer(name, volume, state, endpoint, message)


def first_look(row: Workspace, sighting: Sighting) -> Conditions:
    return observe(replace(row, conditions=NEVER_SEEN), sighting)


class TestVolumes:
    @pytest.mark.parametrize(
        ("row", "expected"),
        [
            (standby(), seen(Status.TRUE, Reason.VOLUME_PROVISIONED, HOME)),
            (standby(home_volume="other"), seen(Status.FALSE, Reason.VOLUME_NOT_FOUND, "other")),
            (archived(op_volume=MADE), seen(Status.FALSE, Reason.VOLUME_NOT_FOUND, MADE)),
            (archived(), seen(Status.FALSE, Reason.NO_VOLUME, None)),
        ],
    )
    def test_it_is_the_rows_current_volume_that_is_looked_for(self, row: Workspace, expected: Condition) -> None:
        assert first_look(row, Sighting(T0, volumes=frozenset({HOME}))).volume == expected

    def test_without_a_listing_nothing_is_said(self) -> None:
        assert first_look(standby(), Sighting(T0)).volume is None


class TestArchives:
    @pytest.mark.parametrize(
        ("state", "status", "reason"),
        [
            (ArchiveState.WHOLE, Status.TRUE, Reason.ARCHIVE_UPLOADED),
            (ArchiveState.MISSING, Status.FALSE, Reason.ARCHIVE_MISSING),
            (ArchiveState.MISMATCH, Status.FALSE, Reason.ARCHIVE_MISMATCH),
        ],
    )
    def test_it_is_said_as_it_was_seen_when_it_was_looked_at(
        self, state: ArchiveState, status: Status, reason: Reason
    ) -> None:
        look = Sighting(after(5), archive=SeenArchive(KEY, state, T0))
        assert first_look(archived(), look).archive == seen(status, reason, KEY)

    def test_a_row_without_a_key_has_no_archive(self) -> None:
        expected = seen(Status.FALSE, Reason.NO_ARCHIVE, None)
        assert first_look(pending(), Sighting(T0, containers=())).archive == expected
        stray = Sighting(T0, archive=SeenArchive(KEY, ArchiveState.WHOLE, T0))
        assert first_look(pending(), stray).archive == expected

    @pytest.mark.parametrize("archive", [None, SeenArchive(OLDER_KEY, ArchiveState.WHOLE, T0)])
    def test_another_key_or_no_look_says_nothing(self, archive: SeenArchive | None) -> None:
        assert first_look(archived(), Sighting(T0, archive=archive)).archive is None


class TestContainers:
    @pytest.mark.parametrize(
        ("state", "reason"),
        [
            (ContainerState.STARTING, Reason.CONTAINER_STARTING),
            (ContainerState.PROBE_FAILING, Reason.PROBE_FAILING),
            (ContainerState.EXITED, Reason.CONTAINER_EXITED),
        ],
    )
    def test_one_that_does_not_answer_has_no_endpoint(self, state: ContainerState, reason: Reason) -> None:
        look = Sighting(T0, containers=(container(state, message="why"),))
        assert first_look(standby(), look).container == seen(Status.FALSE, reason, "a", "why")

    def test_one_that_answers_has_its_endpoint(self) -> None:
        look = Sighting(T0, containers=(container(ContainerState.READY),))
        expected = replace(seen(Status.TRUE, Reason.CONTAINER_RUNNING, "a"), endpoint=ENDPOINT)
        assert first_look(standby(), look).container == expected

    def test_none_is_said_to_be_none_and_no_listing_says_nothing(self) -> None:
        none = seen(Status.FALSE, Reason.CONTAINER_NOT_FOUND, None)
        assert first_look(standby(), Sighting(T0, containers=())).container == none
        assert first_look(standby(), Sighting(T0)).container is None

    def test_the_one_that_is_most_alive_speaks_and_the_number_is_said(self) -> None:
        alive_last = [
            ContainerState.EXITED,
            ContainerState.STARTING,
            ContainerState.PROBE_FAILING,
            ContainerState.READY,
        ]
        for count in (2, 3, 4):
            states = alive_last[:count]
            look = Sighting(T0, containers=tuple(container(state, state.value) for state in states))
            said = first_look(standby(), look).container
            assert said is not None
            assert (said.subject, said.message) == (states[-1].value, f"{count} containers are there.")

    def test_of_two_alike_the_first_by_name_speaks_and_its_message_follows_the_number(self) -> None:
        two = (container(ContainerState.EXITED, "b"), container(ContainerState.EXITED, "a", message="code 1"))
        expected = seen(Status.FALSE, Reason.CONTAINER_EXITED, "a", "2 containers are there. code 1")
        assert first_look(standby(), Sighting(T0, containers=two)).container == replace(expected, surplus=("b",))

    def test_one_on_another_volume_is_displaced_however_well_it_answers(self) -> None:
        look = Sighting(T0, containers=(container(ContainerState.READY, volume="older"),))
        assert first_look(standby(), look).container == seen(Status.FALSE, Reason.CONTAINER_DISPLACED, "a", "older")
        speaking = Sighting(T0, containers=(container(ContainerState.READY, volume="older", message="busy"),))
        expected = seen(Status.FALSE, Reason.CONTAINER_DISPLACED, "a", "busy")
        assert first_look(standby(), speaking).container == expected

    def test_one_on_another_volume_that_has_ended_has_ended(self) -> None:
        look = Sighting(T0, containers=(container(ContainerState.EXITED, volume="older"),))
        assert first_look(standby(), look).container == seen(Status.FALSE, Reason.CONTAINER_EXITED, "a")

    def test_one_on_the_home_speaks_before_a_livelier_one_on_another_volume(self) -> None:
        two = (container(ContainerState.READY, "a", "older"), container(ContainerState.EXITED, "b"))
        said = first_look(standby(), Sighting(T0, containers=two)).container
        assert said is not None
        assert said.subject == "b"


class TestHealth:
    WHOLE = Sighting(T0, containers=(), volumes=frozenset({HOME}))

    def test_a_workspace_with_nothing_broken_is_healthy(self) -> None:
        assert first_look(standby(), self.WHOLE).healthy == HEALTHY

    @pytest.mark.parametrize(
        ("row", "look", "reason"),
        [
            (archived(), Sighting(T0, containers=(container(ContainerState.READY),)), Reason.CONTAINER_WITHOUT_VOLUME),
            (standby(), Sighting(T0, volumes=frozenset()), Reason.DATA_LOST),
            (
                archived(),
                Sighting(T0, archive=SeenArchive(KEY, ArchiveState.MISMATCH, T0)),
                Reason.ARCHIVE_CORRUPTED,
            ),
        ],
    )
    def test_a_broken_rule_is_named_from_what_this_look_completes(
        self, row: Workspace, look: Sighting, reason: Reason
    ) -> None:
        archive = look.archive and replace(look.archive, looked_at=after(-2))
        before = first_look(row, replace(look, looked_at=after(-2), archive=archive))
        healthy = observe(replace(row, conditions=before), look).healthy
        assert healthy is not None
        assert (healthy.status, healthy.reason, healthy.subject) == (Status.FALSE, reason, None)

    def test_health_keeps_the_time_of_its_beginning_and_no_earlier_look_changes_it(self) -> None:
        row = replace(standby(), conditions=first_look(standby(), self.WHOLE))
        later = observe(row, replace(self.WHOLE, looked_at=after(9)))
        assert later.healthy == replace(HEALTHY, observed_from=after(9))
        assert observe(replace(row, conditions=later), self.WHOLE).healthy == later.healthy


class TestTime:
    def test_a_look_that_saw_nothing_at_all_leaves_everything_as_it_was(self) -> None:
        row = replace(pending(), conditions=NEVER_SEEN)
        assert observe(row, Sighting(T0)) == NEVER_SEEN

    def test_a_status_that_stays_keeps_the_time_of_its_beginning(self) -> None:
        row = replace(standby(), conditions=first_look(standby(), TestHealth.WHOLE))
        later = observe(row, replace(TestHealth.WHOLE, looked_at=after(9))).volume
        assert later is not None
        assert (later.last_transition_time, later.observed_from) == (T0, after(9))

    def test_a_status_that_changes_or_is_about_another_subject_begins_anew(self) -> None:
        row = replace(standby(), conditions=first_look(standby(), TestHealth.WHOLE))
        gone = observe(row, Sighting(after(9), volumes=frozenset())).volume
        assert gone is not None
        assert gone.last_transition_time == after(9)
        other = observe(replace(row, home_volume="other"), Sighting(after(9), volumes=frozenset({"other"}))).volume
        assert other is not None
        assert other.last_transition_time == after(9)

    def test_a_look_of_the_same_moment_counts_and_an_earlier_one_does_not(self) -> None:
        row = replace(standby(), conditions=first_look(standby(), TestHealth.WHOLE))
        same = observe(row, Sighting(T0, volumes=frozenset()))
        assert same.volume == seen(Status.FALSE, Reason.VOLUME_NOT_FOUND, HOME)
        assert observe(row, Sighting(after(-MOMENT), volumes=frozenset())).volume == row.conditions.volume


class TestWriting:
    @staticmethod
    def looked(row: Workspace, seconds: float = 9) -> Conditions:
        """The same things seen again later."""
        volume = row.conditions.volume
        there = {HOME} if volume is not None and volume.status is Status.TRUE else set()
        return observe(row, Sighting(after(seconds), containers=(), volumes=frozenset(there)))

    def settled(self) -> Workspace:
        row = standby(conditions=NEVER_SEEN)
        return replace(row, conditions=observe(row, TestHealth.WHOLE))

    def test_a_settled_row_that_looks_as_before_is_left_alone(self) -> None:
        row = self.settled()
        assert not worth_writing(row, self.looked(row))
        assert not worth_writing(row, row.conditions)

    @pytest.mark.parametrize("name", ["volume", "archive", "container", "healthy"])
    def test_each_of_the_four_is_worth_a_write_when_it_says_something_else(self, name: str) -> None:
        row = self.settled()
        before: Condition = getattr(row.conditions, name)
        for said in (None, replace(before, message="new"), replace(before, endpoint=ENDPOINT)):
            assert worth_writing(row, replace(row.conditions, **{name: said}))
            assert worth_writing(replace(row, conditions=replace(row.conditions, **{name: said})), row.conditions)

    @pytest.mark.parametrize("operation", [operation for operation in Operation if operation is not Operation.NONE])
    def test_an_operation_waits_for_every_look(self, operation: Operation) -> None:
        row = replace(self.settled(), operation=operation)
        assert worth_writing(row, self.looked(row))
        assert not worth_writing(row, row.conditions)

    def test_a_look_is_worth_a_write_where_the_last_was_begun_before_the_act_ended(self) -> None:
        row = self.settled()
        assert worth_writing(replace(row, acted_at=after(MOMENT)), self.looked(row))
        assert not worth_writing(replace(row, acted_at=T0), self.looked(row))
        assert not worth_writing(replace(row, acted_at=after(MOMENT)), row.conditions)

    @pytest.mark.parametrize(("for_seconds", "worth"), [(0, True), (2 - MOMENT, True), (2, False), (9, False)])
    def test_an_absence_is_looked_at_again_until_it_is_confirmed(self, for_seconds: float, worth: bool) -> None:
        row = standby(conditions=NEVER_SEEN)
        row = replace(row, conditions=observe(row, Sighting(T0, containers=(), volumes=frozenset())))
        row = replace(row, conditions=observe(row, Sighting(after(for_seconds), containers=(), volumes=frozenset())))
        later = replace(row.conditions, volume=self.looked(row, 60).volume)
        assert worth_writing(row, later) is worth

    def test_the_absence_of_what_no_row_names_needs_no_second_look(self) -> None:
        row = archived(conditions=NEVER_SEEN)
        row = replace(row, conditions=observe(row, Sighting(T0, containers=(), volumes=frozenset())))
        assert not worth_writing(row, replace(row.conditions, volume=self.looked(row).volume))


class TestLookingAgain:
    @staticmethod
    def missing(for_seconds: float, subject: str | None = HOME) -> Condition:
        return condition(Reason.VOLUME_NOT_FOUND, subject, at=after(for_seconds), since=T0)

    def test_what_is_missing_is_looked_for_until_it_is_called_lost(self) -> None:
        for young in (self.missing(0), self.missing(2 - MOMENT)):
            assert wants_another_look(Conditions(volume=young))
            assert wants_another_look(Conditions(archive=young))
        assert not wants_another_look(Conditions(volume=self.missing(2), archive=self.missing(2)))

    def test_what_is_there_or_was_never_named_needs_no_other_look(self) -> None:
        assert not wants_another_look(NEVER_SEEN)
        assert not wants_another_look(Conditions(volume=volume_seen(), archive=self.missing(0, subject=None)))

    def test_a_container_that_is_missing_is_no_loss(self) -> None:
        assert not wants_another_look(Conditions(container=no_container()))
