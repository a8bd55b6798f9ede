"""When an archive has to be looked at: whoever waits for it must not wait in vain, and nobody else costs a request."""

from uuid import UUID

import pytest

from codehub.decide.observe import wants_archive_look
from codehub.model.conditions import Reason
from codehub.model.states import Operation, Step
from codehub.model.workspace import attempted_archive
from tests.decide.builders import (
    KEY,
    MADE,
    MOMENT,
    OLDER_KEY,
    OP_ID,
    T0,
    after,
    archive_gone,
    archive_seen,
    archived,
    pending,
    seeing,
    standby,
    under_way,
)


def test_one_that_was_seen_under_its_key_is_left_alone() -> None:
    assert not wants_archive_look(archived())


def test_one_that_was_never_seen_or_under_another_key_is_looked_at() -> None:
    assert wants_archive_look(seeing(archived(), archive=None))
    assert wants_archive_look(seeing(archived(), archive=archive_seen(OLDER_KEY)))


def test_where_there_is_none_or_its_workspace_is_deleted_nobody_looks() -> None:
    assert not wants_archive_look(pending())
    assert not wants_archive_look(standby())
    assert not wants_archive_look(seeing(archived(deleted_at=T0), archive=None))


@pytest.mark.parametrize("reason", [Reason.ARCHIVE_MISSING, Reason.ARCHIVE_MISMATCH])
def test_an_absence_is_looked_at_until_it_is_confirmed(reason: Reason) -> None:
    assert wants_archive_look(seeing(archived(), archive=archive_gone(reason=reason, for_seconds=2 - MOMENT)))
    assert not wants_archive_look(seeing(archived(), archive=archive_gone(reason=reason, for_seconds=2)))


@pytest.mark.parametrize(
    ("operation", "step"),
    [(Operation.ARCHIVING, Step.VERIFIED), (Operation.CREATE_EMPTY_ARCHIVE, Step.UPLOADED)],
)
def test_what_was_stored_just_now_has_to_be_seen_since(operation: Operation, step: Step) -> None:
    row = under_way(archived(), operation, step)
    seen = seeing(row, archive=archive_seen(KEY, at=T0))
    for acted_at, wanted in ((after(MOMENT), True), (T0, False), (None, False)):
        for deleted_at in (None, after(9)):  # the deletion waits for this operation
            waits = under_way(seen, operation, step, acted_at=acted_at, deleted_at=deleted_at)
            assert wants_archive_look(waits) is wanted


@pytest.mark.parametrize("step", [Step.ARCHIVE, Step.VERIFY, Step.RELEASE, Step.RELEASED])
def test_an_act_on_the_home_says_nothing_of_the_archive(step: Step) -> None:
    row = under_way(archived(), Operation.ARCHIVING, step, acted_at=after(9))
    assert not wants_archive_look(seeing(row, archive=archive_seen(KEY, at=T0)))


def test_a_restore_that_has_failed_asks_whether_its_archive_is_there() -> None:
    waiting = under_way(archived(), Operation.RESTORING, Step.RESTORE, op_volume=MADE, next_attempt_at=after(30))
    assert wants_archive_look(waiting)
    assert not wants_archive_look(under_way(archived(), Operation.RESTORING, Step.RESTORE, op_volume=MADE))
    starting = under_way(standby(archive_key=KEY), Operation.STARTING, Step.START, next_attempt_at=after(30))
    assert not wants_archive_look(seeing(starting, archive=archive_seen(KEY)))


def test_every_attempt_has_a_name_of_its_own_for_its_archive() -> None:
    names = [attempted_archive(OP_ID, attempt) for attempt in range(1, 5)]
    assert names[0] == OP_ID
    assert len(set(names)) == len(names)
    assert names == [attempted_archive(OP_ID, attempt) for attempt in range(1, 5)], "whoever asks gets the same"
    assert not set(names) & {attempted_archive(UUID(int=7), attempt) for attempt in range(1, 5)}
