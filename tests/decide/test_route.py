"""The table of front-door.md: what each visitor gets, by phase, operation and kind of visit."""

from dataclasses import replace

import pytest

from codehub.decide.route import Answer, Forward, Visit, route
from codehub.model.conditions import Conditions, Endpoint, Reason
from codehub.model.states import Desired, Operation, Phase
from tests.decide.builders import ENDPOINT, T0, condition, container_seen, no_container, running, workspace

NAVIGATION, OTHER = Visit.NAVIGATION, Visit.OTHER

ASLEEP = (Phase.PENDING, Phase.ARCHIVED, Phase.STANDBY)
GONE = (Phase.DELETING, Phase.DELETED)
NOT_STOPPING = [operation for operation in Operation if operation is not Operation.STOPPING]


@pytest.mark.parametrize("limit_reached", [False, True])
@pytest.mark.parametrize("visit", Visit)
@pytest.mark.parametrize("operation", NOT_STOPPING)
def test_a_running_workspace_is_forwarded_to_its_endpoint(
    operation: Operation, visit: Visit, limit_reached: bool
) -> None:
    assert route(running(operation=operation), visit, limit_reached) == Forward(ENDPOINT)


def test_the_endpoint_is_the_one_that_was_seen() -> None:
    moved = Endpoint("container-2", "10.0.0.2", 9090)
    row = running(conditions=Conditions(container=replace(container_seen(), endpoint=moved)))
    assert route(row, NAVIGATION, limit_reached=False) == Forward(moved)


@pytest.mark.parametrize(
    ("visit", "limit_reached", "expected"),
    [
        (NAVIGATION, False, Answer.WAKING_PAGE),
        (OTHER, False, Answer.UNAVAILABLE),
        (NAVIGATION, True, Answer.LIMIT_PAGE),
        (OTHER, True, Answer.UNAVAILABLE),
    ],
)
class TestAsleep:
    @pytest.mark.parametrize("operation", Operation)
    @pytest.mark.parametrize("phase", ASLEEP)
    def test_a_sleeping_workspace_wakes_for_a_person_only(
        self, phase: Phase, operation: Operation, visit: Visit, limit_reached: bool, expected: Answer
    ) -> None:
        assert route(workspace(phase=phase, operation=operation), visit, limit_reached) is expected

    def test_one_that_is_being_stopped_counts_as_asleep(
        self, visit: Visit, limit_reached: bool, expected: Answer
    ) -> None:
        assert route(running(operation=Operation.STOPPING), visit, limit_reached) is expected

    @pytest.mark.parametrize(
        "conditions",
        [
            Conditions(),
            Conditions(container=no_container()),
            Conditions(container=condition(Reason.PROBE_FAILING, "container-1", at=T0)),
        ],
        ids=["never seen", "seen gone", "does not answer"],
    )
    def test_one_that_cannot_be_reached_counts_as_asleep(
        self, conditions: Conditions, visit: Visit, limit_reached: bool, expected: Answer
    ) -> None:
        assert route(running(conditions=conditions), visit, limit_reached) is expected

    @pytest.mark.parametrize("phase", ASLEEP)
    def test_an_endpoint_from_earlier_forwards_nobody_to_a_sleeper(
        self, phase: Phase, visit: Visit, limit_reached: bool, expected: Answer
    ) -> None:
        assert route(running(phase=phase), visit, limit_reached) is expected


@pytest.mark.parametrize("limit_reached", [False, True])
@pytest.mark.parametrize(("visit", "expected"), [(NAVIGATION, Answer.ERROR_PAGE), (OTHER, Answer.UNAVAILABLE)])
def test_a_workspace_in_error_shows_its_reason_whatever_the_limit(
    visit: Visit, expected: Answer, limit_reached: bool
) -> None:
    assert route(running(phase=Phase.ERROR), visit, limit_reached) is expected


@pytest.mark.parametrize("limit_reached", [False, True])
@pytest.mark.parametrize("visit", Visit)
class TestNotFound:
    @pytest.mark.parametrize("phase", GONE)
    def test_a_deleted_workspace_is_not_found(self, phase: Phase, visit: Visit, limit_reached: bool) -> None:
        assert route(running(phase=phase), visit, limit_reached) is Answer.NOT_FOUND

    @pytest.mark.parametrize("phase", Phase)
    def test_a_deletion_holds_at_once_whatever_the_phase_still_says(
        self, phase: Phase, visit: Visit, limit_reached: bool
    ) -> None:
        row = running(phase=phase, desired_state=Desired.DELETED)
        assert route(row, visit, limit_reached) is Answer.NOT_FOUND

    def test_one_that_is_unknown_or_not_the_visitors_is_not_found(self, visit: Visit, limit_reached: bool) -> None:
        assert route(None, visit, limit_reached) is Answer.NOT_FOUND
