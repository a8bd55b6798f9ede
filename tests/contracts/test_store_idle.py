"""What the TTL runner reads and writes: activity that moves forward only, and sleep for those who are idle still."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from uuid import uuid4

import pytest

from codehub.decide.idle import IdlePolicy
from codehub.model.activity import Doors, Kind, Sign
from codehub.model.plans import Begin, Finish
from codehub.model.states import Desired, Operation, Phase, Step
from codehub.model.workspace import Workspace
from codehub.store.history import Event, EventKind
from codehub.store.protocols import ControllerStore, IdleStore
from tests.contracts.store_backends import Backend
from tests.contracts.store_lives import START, done, standby

FLUSH = 100
POLICY = IdlePolicy(standby_after_seconds=300, archive_after_seconds=300, flush_interval=timedelta(seconds=FLUSH))
AGES = 10**6
OPEN = Doors(watched_for_seconds=AGES, silent_for_seconds=0, most_silent="door")
LONG = 1000
MOST = 100


@pytest.fixture
async def idle(backend: Backend) -> IdleStore:
    return backend.idle(await backend.take("ttl"), POLICY)


async def running(backend: Backend, controller: ControllerStore, since: float = LONG) -> Workspace:
    """One that has run for so many seconds, and that nobody has used."""
    row = done(await backend.wish(await standby(backend, controller), Desired.RUNNING))
    row = done(await controller.claim(row, START, uuid4(), Phase.STANDBY))
    row = done(await controller.finish(row, Finish(Phase.RUNNING, row.home_volume, None, None)))
    return await backend.as_if_since(row, since)


async def stopped(backend: Backend, controller: ControllerStore, since: float = LONG) -> Workspace:
    return await backend.as_if_since(await standby(backend, controller), since)


async def used(idle: IdleStore, row: Workspace, ago: float) -> None:
    await idle.bring_in([Sign(row.id, ago, Kind.EDIT)])


async def ago(backend: Backend, row: Workspace) -> float | None:
    """How long before its last change of phase it was used, to the ten seconds."""
    now = await backend.row(row.id)
    if now.last_access_at is None or now.phase_changed_at is None:
        return None
    return round((now.last_access_at - now.phase_changed_at).total_seconds(), -1)


async def test_activity_moves_forward_only(backend: Backend, controller: ControllerStore, idle: IdleStore) -> None:
    row = await running(backend, controller)
    assert await ago(backend, row) is None
    for seconds, known in ((500, LONG - 500), (700, LONG - 500), (300, LONG - 300)):
        await idle.bring_in([Sign(uuid4(), 0, Kind.EDIT), Sign(row.id, seconds, Kind.EDIT)])
        assert await ago(backend, row) == known


async def test_a_deleted_workspace_is_no_longer_used(
    backend: Backend, controller: ControllerStore, idle: IdleStore
) -> None:
    row = await running(backend, controller)
    await backend.wish(row, Desired.DELETED)
    await used(idle, row, 0)
    assert await ago(backend, row) is None


async def test_one_that_nobody_has_used_for_its_time_is_put_to_sleep_once_and_its_history_says_why(
    backend: Backend, controller: ControllerStore, idle: IdleStore
) -> None:
    row = await running(backend, controller)
    assert list(await idle.may_stand_by(OPEN, MOST)) == [row.id]
    assert list(await idle.stand_by([row.id, uuid4()], OPEN)) == [row.id]
    assert (await backend.row(row.id)).desired_state is Desired.STANDBY
    assert (await backend.events(row.id))[-1] == Event(EventKind.WISH, "RUNNING", "STANDBY", "idle")
    assert list(await idle.may_stand_by(OPEN, MOST)) == []
    assert list(await idle.stand_by([row.id], OPEN)) == []


async def test_one_that_has_been_stopped_for_its_time_is_archived(
    backend: Backend, controller: ControllerStore, idle: IdleStore
) -> None:
    young, old = await stopped(backend, controller, 250), await stopped(backend, controller)
    assert list(await idle.may_be_archived(MOST)) == [old.id]
    assert list(await idle.archive([young.id, old.id])) == [old.id]
    assert (await backend.row(old.id)).desired_state is Desired.ARCHIVED
    assert (await backend.events(old.id))[-1] == Event(EventKind.WISH, "STANDBY", "ARCHIVED", "idle")


AWAKE = {
    "used": (LONG, 350, OPEN),
    "woken": (350, None, OPEN),
    "watched for too short a time": (LONG, None, Doors(350, 0, "door")),
    "not seen of late": (LONG, 500, Doors(AGES, 300, "door")),
}
ASLEEP = {
    "used long ago": (LONG, 450, OPEN),
    "woken long ago": (450, None, OPEN),
    "watched for long": (LONG, None, Doors(450, 0, "door")),
    "seen of late": (LONG, 500, Doors(AGES, 150, "door")),
}


async def test_who_may_have_been_there_is_not_idle(
    backend: Backend, controller: ControllerStore, idle: IdleStore
) -> None:
    for case, (since, last_used, doors) in AWAKE.items():
        row = await lived(backend, controller, idle, since, last_used)
        assert row.id not in await idle.may_stand_by(doors, MOST), case
        assert list(await idle.stand_by([row.id], doors)) == [], case


async def test_who_was_watched_and_seen_to_do_nothing_is(
    backend: Backend, controller: ControllerStore, idle: IdleStore
) -> None:
    for case, (since, last_used, doors) in ASLEEP.items():
        row = await lived(backend, controller, idle, since, last_used)
        assert list(await idle.may_stand_by(doors, MOST)) == list(await idle.stand_by([row.id], doors)) == [row.id], (
            case
        )


async def lived(
    backend: Backend, controller: ControllerStore, idle: IdleStore, since: int, last_used: int | None
) -> Workspace:
    row = await running(backend, controller, since)
    if last_used is not None:
        await used(idle, row, last_used)
    return row


NEWS: dict[str, Callable[[Backend, ControllerStore, IdleStore, Workspace], Awaitable[object]]] = {
    "used": lambda _backend, _controller, idle, row: used(idle, row, 0),
    "stopped by its owner": lambda backend, _controller, _idle, row: backend.wish(row, Desired.STANDBY),
    "deleted": lambda backend, _controller, _idle, row: backend.wish(row, Desired.DELETED),
    "being stopped": lambda _backend, controller, _idle, row: controller.claim(
        row, Begin(Operation.STOPPING, Step.STOP), uuid4(), Phase.RUNNING
    ),
}


async def test_what_happened_since_it_was_found_idle_counts(
    backend: Backend, controller: ControllerStore, idle: IdleStore
) -> None:
    for case, happens in NEWS.items():
        row = await running(backend, controller)
        found = await idle.may_stand_by(OPEN, MOST)
        assert list(found) == [row.id], case
        await happens(backend, controller, idle, row)
        assert list(await idle.stand_by(found, OPEN)) == [], case


async def test_no_more_are_found_than_were_asked_for(
    backend: Backend, controller: ControllerStore, idle: IdleStore
) -> None:
    for _ in range(3):
        await running(backend, controller)
        await stopped(backend, controller)
    assert len(await idle.may_stand_by(OPEN, 2)) == 2
    assert len(await idle.may_be_archived(2)) == 2
