"""What is old goes by the settings, in batches, and what is not stays."""

from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import asyncpg
import pytest

from codehub.settings.groups import AuthConfig, RetentionConfig
from codehub.store import pruning
from codehub.store.pruning import prune_by_age, prune_workspaces
from codehub.store.replays import KEPT_SECONDS
from codehub.store.seat import PostgresSeat

DAY = 86400
ADA = UUID(int=1)
RETENTION = RetentionConfig(
    undelete_seconds=7 * DAY, deleted_seconds=30 * DAY, events_seconds=3 * DAY, audit_seconds=5 * DAY
)
AUTH = AuthConfig(login_window_seconds=900)

OLD = {
    "workspace_events": (
        "INSERT INTO workspace_events (workspace_id, kind, at) VALUES ($2, 'created', now() - $1 * interval '1 s')",
        RETENTION.events_seconds,
    ),
    "audit_log": (
        "INSERT INTO audit_log (actor, action, at) SELECT $2::uuid::text, 'login', now() - $1 * interval '1 s'",
        RETENTION.audit_seconds,
    ),
    "sessions": (
        (
            "INSERT INTO sessions (id, user_id, secret_hash, address, expires_at)"
            " VALUES (gen_random_uuid(), $2, gen_random_uuid()::text::bytea, '', now() - $1 * interval '1 s')"
        ),
        0,
    ),
    "login_codes": (
        (
            "INSERT INTO login_codes (secret_hash, user_id, purpose, expires_at)"
            " VALUES (gen_random_uuid()::text::bytea, $2, 'cli', now() - $1 * interval '1 s')"
        ),
        0,
    ),
    "login_attempts": (
        "INSERT INTO login_attempts (login, address, at) VALUES ($2::uuid::text, '', now() - $1 * interval '1 s')",
        AUTH.login_window_seconds,
    ),
    "idempotency_keys": (
        (
            "INSERT INTO idempotency_keys (user_id, key, fingerprint, created_at)"
            " VALUES ($2, gen_random_uuid()::text, '', now() - $1 * interval '1 s')"
        ),
        KEPT_SECONDS,
    ),
    "gc_rounds": (
        "INSERT INTO gc_rounds (asked_by, ended_at) VALUES ($2::uuid::text, now() - $1 * interval '1 s')",
        RETENTION.events_seconds,
    ),
    "holds": (
        (
            "INSERT INTO holds (id, workspace_id, reason, made_by, ends_at)"
            " VALUES (gen_random_uuid(), $2, 'a build', 'ada', now() - $1 * interval '1 s')"
        ),
        0,
    ),
}
"""How a row of this age comes into each table, and from which age on it goes."""


@pytest.fixture
async def seat(database_url: str) -> AsyncIterator[PostgresSeat]:
    seat = await PostgresSeat.take(database_url, "coordinator:gc", "test", 5)
    yield seat
    await seat.close()


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(database_url)
    await connection.execute("INSERT INTO users (id, login, password_hash) VALUES ($1, 'ada', '')", ADA)
    await connection.execute(
        "INSERT INTO workspaces (id, owner_user_id, name, desired_state) VALUES ($1, $1, 'garden', 'RUNNING')", ADA
    )
    yield connection
    await connection.close()


async def count(database: asyncpg.Connection, table: str) -> int:
    return int(await database.fetchval(f"SELECT count(*) FROM {table}"))  # noqa: S608


@pytest.mark.parametrize("table", OLD)
async def test_rows_go_when_their_time_is_over_and_not_before(
    seat: PostgresSeat, database: asyncpg.Connection, table: str
) -> None:
    statement, age = OLD[table]
    for seconds in (age + 60, age + 3600, age - 60, age - 30):
        await database.execute(statement, seconds, ADA)
    assert await prune_by_age(seat, RETENTION, AUTH) == {table: 2}
    assert await count(database, table) == 2
    assert await prune_by_age(seat, RETENTION, AUTH) == {}


async def test_every_table_with_rows_that_age_is_known_here() -> None:
    assert set(OLD) == set(pruning._BY_AGE)


async def test_more_than_one_batch_goes(
    seat: PostgresSeat, database: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "BATCH", 10)
    statement, age = OLD["login_attempts"]
    for _ in range(25):
        await database.execute(statement, age + 60, ADA)
    assert await prune_by_age(seat, RETENTION, AUTH) == {"login_attempts": 25}


async def test_the_audit_log_is_append_only_for_everybody_else(database: asyncpg.Connection) -> None:
    await database.execute(OLD["audit_log"][0], RETENTION.audit_seconds + 60, ADA)
    with pytest.raises(asyncpg.RaiseError, match="append-only"):
        await database.execute("DELETE FROM audit_log")


async def deleted(database: asyncpg.Connection, days: float, phase: str = "DELETED") -> UUID:
    workspace_id = uuid4()
    await database.execute(
        "INSERT INTO workspaces (id, owner_user_id, name, desired_state, phase, deleted_at)"
        " VALUES ($1, $2, 'gone', 'DELETED', $3, now() - $4 * interval '1 day')",
        workspace_id,
        ADA,
        phase,
        days,
    )
    await database.execute("INSERT INTO workspace_events (workspace_id, kind) VALUES ($1, 'created')", workspace_id)
    return workspace_id


async def test_rows_of_deleted_workspaces_go_with_their_story(seat: PostgresSeat, database: asyncpg.Connection) -> None:
    old, lately = await deleted(database, 31), await deleted(database, 29)
    assert await prune_workspaces(seat, RETENTION, ()) == 1
    left = {row["id"] for row in await database.fetch("SELECT id FROM workspaces")}
    assert (old in left, lately in left) == (False, True)
    assert await count(database, "workspace_events") == 1


async def test_a_row_stays_while_it_is_being_deleted_has_archives_or_anything_outside(
    seat: PostgresSeat, database: asyncpg.Connection
) -> None:
    await deleted(database, 31, "DELETING")
    with_archive, with_volume = await deleted(database, 31), await deleted(database, 31)
    await database.execute(
        "INSERT INTO archives (id, workspace_id, generation, key, size, checksum, entries, op_id)"
        " VALUES ($1, $1, 1, 'key', 7, '', 3, $1)",
        with_archive,
    )
    assert await prune_workspaces(seat, RETENTION, {with_volume}) == 0
    assert await prune_workspaces(seat, RETENTION, ()) == 1
