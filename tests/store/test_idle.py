"""Putting idle workspaces to sleep, all at once: the same rows that the decision about one of them would choose."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import asyncpg
import pytest

from codehub.decide.idle import NEVER, IdlePolicy, Sleep, Watch, idle
from codehub.model.activity import Doors, Kind, Sign
from codehub.model.shown import ShownWorkspace
from codehub.model.states import Desired
from codehub.store.idle import PostgresIdle
from codehub.store.seat import PostgresSeat
from codehub.store.shown import SHOWN_SQL, to_shown

MOST = 10_000
STEP = 100
"""All idle times are multiples of this, and all moments lie halfway between two: no machine is slow enough to cross."""
POLICY = IdlePolicy(300, 300, flush_interval=timedelta(seconds=STEP))
OPEN = Doors(watched_for_seconds=10**6, silent_for_seconds=0, most_silent="door")

STATES = [
    ("RUNNING", "RUNNING", "NONE"),
    ("RUNNING", "STANDBY", "NONE"),
    ("RUNNING", "RUNNING", "STOPPING"),
    ("STANDBY", "STANDBY", "NONE"),
    ("STANDBY", "RUNNING", "NONE"),
    ("STANDBY", "STANDBY", "DELETING"),
    ("ERROR", "RUNNING", "NONE"),
    ("ARCHIVED", "ARCHIVED", "NONE"),
]
ROWS = list(
    itertools.product(
        STATES,
        (None, -950, -350, -50),  # last used
        (-450, -150),  # phase changed
        (None, 0, 100, 400),  # the owner's idle times
        (None, 0, 200),  # the template's
        (None, -50, 150),  # held until
    )
)
POLICIES = [
    IdlePolicy(standby, archive, ceiling, ceiling, timedelta(seconds=flush))
    for (standby, archive), ceiling, flush in itertools.product(
        ((300, 300), (100, 200), (NEVER, NEVER)), (NEVER, 100, 300), (0, STEP)
    )
]
SIGHTS = [Doors(watched, silent, "door") for watched, silent in itertools.product((50, 250, 10**6), (0, 100, 200, 300))]


@pytest.fixture
async def connection(database_url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(database_url)
    await connection.execute("INSERT INTO users (id, login, password_hash) VALUES ($1, 'ann', '')", UUID(int=1))
    yield connection
    await connection.close()


@pytest.fixture
async def seat(database_url: str) -> AsyncIterator[PostgresSeat]:
    seat = await PostgresSeat.take(database_url, "coordinator:ttl", "first", lease_seconds=30)
    yield seat
    await seat.close()


async def add(
    connection: asyncpg.Connection,
    *,
    state: tuple[str, str, str] = STATES[0],
    used: float | None = None,
    changed: float = -1000,
    own: int | None = None,
    template: UUID | None = None,
    held: float | None = None,
) -> UUID:
    """A workspace whose times are so many seconds from now."""
    workspace_id, (phase, desired, operation) = uuid4(), state
    await connection.execute(
        """INSERT INTO workspaces (id, owner_user_id, name, phase, desired_state, operation, op_step, op_id,
               op_clock_at, template_id, standby_after_seconds, archive_after_seconds, phase_changed_at,
               last_access_at, held_until)
           VALUES ($1::uuid, $2, $1::uuid::text, $3, $4, $5::text, CASE $5::text WHEN 'NONE' THEN NULL ELSE 'stop' END,
               $1, now(), $6, $7, $7, now() + $8::float8 * interval '1 second',
               now() + $9::float8 * interval '1 second', now() + $10::float8 * interval '1 second')""",
        *(workspace_id, UUID(int=1), phase, desired, operation, template, own, changed, used, held),
    )
    return workspace_id


async def template_of(connection: asyncpg.Connection, seconds: int | None) -> UUID:
    template_id = uuid4()
    await connection.execute(
        """INSERT INTO templates (id, name, port, standby_after_seconds, archive_after_seconds)
           VALUES ($1::uuid, $1::uuid::text, 80, $2, $2)""",
        *(template_id, seconds),
    )
    return template_id


async def all_kinds(connection: asyncpg.Connection) -> dict[UUID, ShownWorkspace]:
    templates = {seconds: await template_of(connection, seconds) for seconds in (None, 0, 200)}
    async with connection.transaction():
        for state, used, changed, own, template, held in ROWS:
            await add(
                connection,
                state=state,
                used=used,
                changed=changed,
                own=own,
                template=templates[template],
                held=held,
            )
    return {row["id"]: to_shown(row) for row in await connection.fetch(SHOWN_SQL)}


def chosen(
    rows: dict[UUID, ShownWorkspace], held: dict[UUID, datetime | None], policy: IdlePolicy, doors: Doors, now: datetime
) -> Iterator[tuple[Desired, UUID]]:
    """What the decision about each of them says."""
    watch = Watch(now - timedelta(seconds=doors.watched_for_seconds), now - timedelta(seconds=doors.silent_for_seconds))
    for row in rows.values():
        answer = idle(row, policy, held[row.id], now, watch)
        if isinstance(answer, Sleep):
            yield answer.desired, row.id


async def test_the_rows_that_are_chosen_at_once_are_those_that_are_chosen_one_by_one(
    connection: asyncpg.Connection, seat: PostgresSeat
) -> None:
    rows = await all_kinds(connection)
    held = dict(await connection.fetch("SELECT id, held_until FROM workspaces"))
    numbers = set()
    for policy, doors in itertools.product(POLICIES, SIGHTS):
        store, now = PostgresIdle(seat, policy), await connection.fetchval("SELECT clock_timestamp()")
        found = {(Desired.STANDBY, each) for each in await store.may_stand_by(doors, MOST)}
        found |= {(Desired.ARCHIVED, each) for each in await store.may_be_archived(MOST)}
        assert found == set(chosen(rows, held, policy, doors, now)), (policy, doors)
        numbers.add(len(found))
    assert len(numbers) > 10  # the rows differ enough for the comparison to mean something


async def test_those_that_are_put_to_sleep_are_the_chosen_ones_and_their_history_says_why(
    connection: asyncpg.Connection, seat: PostgresSeat
) -> None:
    rows = await all_kinds(connection)
    store = PostgresIdle(seat, POLICY)
    standing = set(await store.may_stand_by(OPEN, MOST))
    assert set(await store.stand_by(list(rows), OPEN)) == standing
    archived = set(await store.may_be_archived(MOST))
    assert set(await store.archive(list(rows))) == archived
    told = await connection.fetch("SELECT workspace_id, kind, before, after, reason, actor FROM workspace_events")
    assert {tuple(row) for row in told} == {
        *((each, "wish", "RUNNING", "STANDBY", "idle", None) for each in standing),
        *((each, "wish", "STANDBY", "ARCHIVED", "idle", None) for each in archived),
    }
    wishes = await connection.fetch("SELECT id, desired_state FROM workspaces WHERE desired_reason = 'idle'")
    assert {tuple(row) for row in wishes} == {
        *((each, "STANDBY") for each in standing),
        *((each, "ARCHIVED") for each in archived),
    }


async def test_no_more_are_found_than_were_asked_for(connection: asyncpg.Connection, seat: PostgresSeat) -> None:
    for _ in range(3):
        await add(connection)
    assert len(await PostgresIdle(seat, POLICY).may_stand_by(OPEN, 2)) == 2


async def test_one_that_somebody_else_is_writing_to_is_left_for_the_next_pass(
    connection: asyncpg.Connection, seat: PostgresSeat
) -> None:
    store, busy, free = PostgresIdle(seat, POLICY), await add(connection), await add(connection)
    async with connection.transaction():
        await connection.execute("SELECT FROM workspaces WHERE id = $1 FOR NO KEY UPDATE", busy)
        assert list(await store.stand_by([busy, free], OPEN)) == [free]
    assert list(await store.stand_by([busy, free], OPEN)) == [busy]


NEWS = {
    "used": "last_access_at = clock_timestamp()",
    "woken anew": "phase_changed_at = clock_timestamp()",
    "held": "held_until = clock_timestamp() + interval '1 hour'",
    "told never to sleep": "standby_after_seconds = 0",
    "stopped by its owner": "desired_state = 'STANDBY'",
    "deleted": "desired_state = 'DELETED', deleted_at = clock_timestamp()",
}


@pytest.mark.parametrize("news", NEWS.values(), ids=NEWS.keys())
async def test_what_happened_since_it_was_found_idle_counts(
    connection: asyncpg.Connection, seat: PostgresSeat, news: str
) -> None:
    store, workspace_id = PostgresIdle(seat, POLICY), await add(connection)
    found = await store.may_stand_by(OPEN, MOST)
    assert list(found) == [workspace_id]
    await connection.execute(f"UPDATE workspaces SET {news} WHERE id = $1", workspace_id)  # noqa: S608 (ours)
    assert list(await store.stand_by(found, OPEN)) == []


async def test_activity_moves_only_forward_and_brings_its_kind(
    connection: asyncpg.Connection, seat: PostgresSeat
) -> None:
    store, workspace_id = PostgresIdle(seat, POLICY), await add(connection, used=-1000)

    async def seen(ago: float, kind: Kind | None) -> tuple[int, str | None]:
        await store.bring_in([Sign(workspace_id, ago, kind), Sign(uuid4(), 0, kind)])
        row = await connection.fetchrow(
            "SELECT extract(epoch FROM clock_timestamp() - last_access_at) AS ago, last_activity FROM workspaces"
        )
        return round(float(row["ago"]) / STEP), row["last_activity"]

    assert await seen(500, Kind.EDIT) == (5, "edit")
    assert await seen(700, Kind.TERMINAL_OUTPUT) == (5, "edit")
    assert await seen(300, Kind.SAVE) == (3, "save")
    assert await seen(0, None) == (0, None)


async def test_a_deleted_workspace_is_no_longer_used(connection: asyncpg.Connection, seat: PostgresSeat) -> None:
    workspace_id = await add(connection)
    await connection.execute("UPDATE workspaces SET desired_state = 'DELETED', deleted_at = now()")
    await PostgresIdle(seat, POLICY).bring_in([Sign(workspace_id, 0, Kind.EDIT)])
    assert await connection.fetchval("SELECT last_access_at FROM workspaces") is None


async def test_two_runners_at_once_put_each_workspace_to_sleep_once(
    connection: asyncpg.Connection, seat: PostgresSeat, database_url: str
) -> None:
    ids = [await add(connection) for _ in range(50)]
    other = await PostgresSeat.take(database_url, "coordinator:ttl", "second", lease_seconds=30)
    try:
        both = await asyncio.gather(*(PostgresIdle(each, POLICY).stand_by(ids, OPEN) for each in (seat, other)))
    finally:
        await other.close()
    slept = [each for ids in both for each in ids]
    slept += await PostgresIdle(seat, POLICY).stand_by(ids, OPEN)  # what each had left to the other
    assert sorted(slept) == sorted(ids)
    assert await connection.fetchval("SELECT count(*) FROM workspace_events") == len(ids)
