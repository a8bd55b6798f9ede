"""At most one container per workspace (contract 6): which one stays, and when the others go."""

from dataclasses import replace

import pytest

from codehub.decide.observe import observe, worth_writing
from codehub.decide.plan import Acting, plan
from codehub.decide.view import view
from codehub.model.conditions import Condition, Reason
from codehub.model.plans import Begin, Plan, RemoveSurplus, Rest, Waiting, WaitUntil
from codehub.model.sightings import ContainerState, SeenContainer, Sighting
from codehub.model.states import Desired, ErrorReason, Operation, Service, Step
from codehub.model.workspace import Workspace
from tests.decide.builders import (
    CONTAINER_ID,
    HOME,
    LATE_ID,
    MOMENT,
    T0,
    after,
    circumstances,
    container_seen,
    in_error,
    running,
    seeing,
    standby,
    under_way,
    volume_gone,
    volume_seen,
)

SURPLUS = RemoveSurplus((LATE_ID,))


def crowded(reason: Reason = Reason.CONTAINER_RUNNING) -> Condition:
    return replace(container_seen(reason), surplus=(LATE_ID,))


RUNNING = seeing(running(), container=crowded())


def seen(row: Workspace, *containers: tuple[str, ContainerState, str]) -> Condition:
    there = tuple(SeenContainer(name, volume, state) for name, state, volume in containers)
    found = observe(row, Sighting(after(1), there, frozenset({HOME}))).container
    assert found is not None
    return found


class TestWhoSpeaks:
    def test_of_several_one_speaks_and_the_others_are_surplus(self) -> None:
        found = seen(
            standby(),
            ("c", ContainerState.STARTING, HOME),
            ("b", ContainerState.READY, HOME),
            ("a", ContainerState.EXITED, HOME),
        )
        assert (found.subject, found.surplus) == ("b", ("a", "c"))

    def test_one_alone_leaves_no_surplus(self) -> None:
        assert seen(standby(), ("a", ContainerState.READY, HOME)).surplus == ()

    def test_of_equals_the_one_that_served_so_far_goes_on(self) -> None:
        both = (LATE_ID, ContainerState.READY, HOME), (CONTAINER_ID, ContainerState.READY, HOME)
        assert seen(running(), *both).subject == CONTAINER_ID
        assert seen(standby(), *both).subject == LATE_ID

    def test_the_one_that_served_so_far_yields_to_one_that_is_more_alive(self) -> None:
        found = seen(
            running(), (LATE_ID, ContainerState.READY, HOME), (CONTAINER_ID, ContainerState.PROBE_FAILING, HOME)
        )
        assert (found.subject, found.surplus) == (LATE_ID, (CONTAINER_ID,))

    def test_a_displaced_one_is_the_surplus_however_well_it_answers(self) -> None:
        found = seen(running(), ("a", ContainerState.READY, "older"), ("b", ContainerState.STARTING, HOME))
        assert (found.subject, found.surplus) == ("b", ("a",))

    def test_of_two_displaced_ones_one_is_surplus(self) -> None:
        found = seen(standby(), ("a", ContainerState.READY, "older"), ("b", ContainerState.READY, "oldest"))
        assert (found.reason, found.surplus, found.endpoint) == (Reason.CONTAINER_DISPLACED, ("b",), None)

    def test_another_surplus_is_worth_a_write(self) -> None:
        other = replace(crowded(), surplus=("container-2",), observed_from=after(1))
        assert worth_writing(RUNNING, replace(RUNNING.conditions, container=other))
        same = replace(crowded(), observed_from=after(1))
        assert not worth_writing(RUNNING, replace(RUNNING.conditions, container=same))


class TestWhatIsKnown:
    def test_a_surplus_counts_if_it_was_seen_after_the_last_act(self) -> None:
        assert view(RUNNING).surplus == (LATE_ID,)
        assert view(replace(RUNNING, acted_at=T0)).surplus == (LATE_ID,)
        assert view(replace(RUNNING, acted_at=after(MOMENT))).surplus is None

    def test_without_one_there_is_nothing_to_doubt(self) -> None:
        assert view(running(acted_at=after(60))).surplus == ()
        assert view(seeing(running(), container=None)).surplus == ()


class TestWhatFollows:
    @pytest.mark.parametrize(
        "row",
        [
            RUNNING,
            seeing(in_error(ErrorReason.TIMEOUT), container=crowded()),
            seeing(in_error(ErrorReason.TIMEOUT), container=crowded(Reason.PROBE_FAILING)),
            seeing(standby(desired_state=Desired.RUNNING), container=crowded(Reason.CONTAINER_STARTING)),
            under_way(
                seeing(standby(desired_state=Desired.RUNNING), container=crowded(Reason.CONTAINER_STARTING)),
                Operation.STARTING,
                Step.STARTED,
            ),
        ],
        ids=["running", "in error", "in error and silent", "about to be started", "starting"],
    )
    def test_the_surplus_is_removed_whatever_the_phase(self, row: Workspace) -> None:
        assert plan(row, circumstances()) == SURPLUS

    def test_a_stop_takes_them_all(self) -> None:
        assert plan(replace(RUNNING, desired_state=Desired.STANDBY), circumstances()) == Begin(
            Operation.STOPPING, Step.STOP
        )

    def test_a_deletion_takes_them_all(self) -> None:
        row = replace(RUNNING, desired_state=Desired.DELETED, deleted_at=T0)
        assert plan(row, circumstances()) == Begin(Operation.STOPPING, Step.STOP)

    def test_nothing_is_removed_by_the_word_of_a_look_before_the_last_act(self) -> None:
        assert plan(replace(RUNNING, acted_at=after(1)), circumstances()) == WaitUntil(None, Waiting.OBSERVATION)

    def test_a_start_waits_for_its_sight_meanwhile(self) -> None:
        row = under_way(replace(RUNNING, acted_at=after(1)), Operation.STARTING, Step.STARTED)
        assert plan(row, circumstances()) == WaitUntil(after(300), Waiting.OBSERVATION)

    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            ({"away": Service.RUNTIME}, WaitUntil(None, Waiting.SERVICE, Service.RUNTIME)),
            ({"acting": Acting.BUSY}, WaitUntil(None, Waiting.ACTION)),
        ],
    )
    def test_it_waits_for_the_engine_and_for_a_removal_in_flight(self, change: dict[str, bool], expected: Plan) -> None:
        assert plan(RUNNING, circumstances(**change)) == expected  # type: ignore[arg-type]

    def test_nothing_is_removed_where_what_would_stay_has_ended(self) -> None:
        row = seeing(in_error(ErrorReason.TIMEOUT), container=crowded(Reason.CONTAINER_EXITED))
        assert plan(row, circumstances()) == Rest()

    @pytest.mark.parametrize("volume", [volume_gone(for_seconds=1), volume_seen("another")])
    def test_nothing_is_removed_where_the_home_was_not_seen(self, volume: Condition) -> None:
        assert plan(seeing(RUNNING, volume=volume), circumstances()) == Rest()
