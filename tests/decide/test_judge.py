"""The phase of every row: each memory with all that can have been seen, held against the table of lifecycle.md."""

from itertools import product

import pytest

from codehub.decide.judge import TERMINAL_REASONS, is_terminal, judge
from codehub.decide.steps import FIRST_STEP
from codehub.model.conditions import Condition, Conditions, Reason
from codehub.model.states import Desired, ErrorReason, Operation, Phase
from tests.decide.builders import HOME, KEY, POLICY, T0, after, condition, in_error, pending, under_way, workspace

LASTING = after(-2)

VOLUMES: dict[str, Condition | None] = {
    "unseen": None,
    "there": condition(Reason.VOLUME_PROVISIONED, HOME),
    "missed once": condition(Reason.VOLUME_NOT_FOUND, HOME),
    "gone": condition(Reason.VOLUME_NOT_FOUND, HOME, since=LASTING),
}
ARCHIVES: dict[str, Condition | None] = {
    "unseen": None,
    "whole": condition(Reason.ARCHIVE_UPLOADED, KEY),
    "missed once": condition(Reason.ARCHIVE_MISSING, KEY),
    "gone": condition(Reason.ARCHIVE_MISSING, KEY, since=LASTING),
    "broken": condition(Reason.ARCHIVE_MISMATCH, KEY, since=LASTING),
}
CONTAINERS: dict[str, Condition | None] = {
    "unseen": None,
    "none": condition(Reason.CONTAINER_NOT_FOUND, None),
    "ready": condition(Reason.CONTAINER_RUNNING, "c"),
    "starting": condition(Reason.CONTAINER_STARTING, "c"),
    "failing": condition(Reason.PROBE_FAILING, "c"),
    "displaced": condition(Reason.CONTAINER_DISPLACED, "c"),
    "exited": condition(Reason.CONTAINER_EXITED, "c"),
}
SEEN = tuple(product(VOLUMES, ARCHIVES, CONTAINERS))
IS_THERE = ("ready", "starting", "failing", "displaced", "exited")


def seen(volume: str, archive: str, container: str) -> Conditions:
    return Conditions(VOLUMES[volume], ARCHIVES[archive], CONTAINERS[container])


@pytest.mark.parametrize("before", [Phase.RUNNING, Phase.STANDBY])
@pytest.mark.parametrize("key", [None, KEY])
def test_a_home_is_running_standby_or_lost(key: str | None, before: Phase) -> None:
    for volume, archive, container in SEEN:
        row = workspace(home_volume=HOME, archive_key=key, phase=before, conditions=seen(volume, archive, container))
        if volume == "gone":
            expected = Phase.ERROR
        elif container == "ready" and volume == "there":
            expected = Phase.RUNNING
        else:
            expected = before if container in ("ready", "unseen") else Phase.STANDBY
        assert judge(row, POLICY.max_retries) is expected, (volume, archive, container)


def test_without_a_volume_the_archive_is_the_home() -> None:
    for volume, archive, container in SEEN:
        row = workspace(archive_key=KEY, conditions=seen(volume, archive, container))
        broken = container in IS_THERE or archive in ("gone", "broken")
        expected = Phase.ERROR if broken else Phase.ARCHIVED
        assert judge(row, POLICY.max_retries) is expected, (volume, archive, container)


def test_what_never_had_a_home_is_pending() -> None:
    for volume, archive, container in SEEN:
        row = workspace(conditions=seen(volume, archive, container))
        expected = Phase.ERROR if container in IS_THERE else Phase.PENDING
        assert judge(row, POLICY.max_retries) is expected, (volume, archive, container)


@pytest.mark.parametrize("home", [None, HOME])
def test_what_is_deleted_is_deleted_once_nothing_of_it_is_seen_and_its_row_has_let_go_of_it(home: str | None) -> None:
    for volume, archive, container in SEEN:
        row = workspace(desired_state=Desired.DELETED, home_volume=home, conditions=seen(volume, archive, container))
        expected = Phase.DELETED if container == "none" and home is None else Phase.DELETING
        assert judge(row, POLICY.max_retries) is expected, (volume, archive, container)


def test_contract_4_an_operation_is_never_judged_to_be_in_error() -> None:
    for operation, (volume, archive, container) in product(FIRST_STEP, SEEN):
        row = workspace(
            home_volume=HOME,
            error_reason=ErrorReason.TIMEOUT,
            error_count=9,
            conditions=seen(volume, archive, container),
        )
        assert judge(under_way(row, operation, FIRST_STEP[operation]), POLICY.max_retries) is not Phase.ERROR


@pytest.mark.parametrize("reason", ErrorReason)
@pytest.mark.parametrize("count", range(5))
def test_an_error_is_final_by_its_reason_or_by_its_count(reason: ErrorReason, count: int) -> None:
    by_count = (ErrorReason.ACTION_FAILED, ErrorReason.UNREACHABLE)
    expected = reason not in by_count or count >= 3
    assert is_terminal(reason, count, 3) is expected
    assert (reason in TERMINAL_REASONS) is (reason not in by_count)
    assert (judge(in_error(reason, error_count=count), 3) is Phase.ERROR) is expected


@pytest.mark.parametrize("count", range(5))
def test_clearing_the_reason_is_a_recovery(count: int) -> None:
    assert not is_terminal(None, count, 3)


def test_a_deletion_leaves_every_error_behind() -> None:
    for reason in ErrorReason:
        row = in_error(reason, desired_state=Desired.DELETED, deleted_at=T0)
        assert judge(row, POLICY.max_retries) is Phase.DELETING


def test_a_stray_container_is_no_error_while_it_is_being_stopped() -> None:
    stray = pending(conditions=Conditions(container=CONTAINERS["ready"]))
    stopping = under_way(stray, Operation.STOPPING, FIRST_STEP[Operation.STOPPING])
    assert judge(stray, POLICY.max_retries) is Phase.ERROR
    assert judge(stopping, POLICY.max_retries) is Phase.PENDING
