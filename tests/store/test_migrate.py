"""Every migration goes up and down on a database with rows, and several processes may migrate at once."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

import asyncpg
import pytest
from alembic.util.exc import CommandError
from sqlalchemy.exc import ProgrammingError

from codehub.store import migrate
from codehub.store.migrations.script import run

ID = UUID(int=1)
ROWS = {
    "installation": "INSERT INTO installation (id) VALUES ($1)",
    "users": "INSERT INTO users (id, login, password_hash) VALUES ($1, 'owner', '')",
    "templates": "INSERT INTO templates (id, name, port) VALUES ($1, 'python', 8080)",
    "workspaces": """
        INSERT INTO workspaces (id, owner_user_id, name, template_id, desired_state)
        VALUES ($1, $1, 'garden', $1, 'RUNNING')
    """,
    "workspace_events": "INSERT INTO workspace_events (workspace_id, kind) VALUES ($1, 'created')",
    "archives": """
        INSERT INTO archives (id, workspace_id, generation, key, size, checksum, entries, op_id)
        VALUES ($1, $1, 1, 'key', 7, 'sha256:0', 3, $1)
    """,
    "orphans": "INSERT INTO orphans (kind, key, workspace_id) VALUES ('volume', 'a volume', $1)",
    "gc_rounds": "INSERT INTO gc_rounds (id) VALUES ($1)",
    "home_counter": "INSERT INTO home_counter (value) SELECT 0 WHERE $1::uuid IS NOT NULL",
    "home_counter_marks": "INSERT INTO home_counter_marks (id, value) VALUES ($1, 7)",
    "holds": "INSERT INTO holds (id, workspace_id, reason, made_by, ends_at) VALUES ($1, $1, 'build', 'ann', now())",
    "system_locks": "INSERT INTO system_locks VALUES ('coordinator:wc', $1::uuid::text, 1, now(), false)",
    "observer_state": "INSERT INTO observer_state VALUES ('volumes', now(), $1::uuid::text)",
    "sessions": "INSERT INTO sessions (id, user_id, secret_hash, address, expires_at) VALUES ($1, $1, '', '', now())",
    "api_tokens": """
        INSERT INTO api_tokens (id, user_id, name, secret_hash, hint, scopes) VALUES ($1, $1, 'ci', '', '', '{read}')
    """,
    "visits": "INSERT INTO visits (secret_hash, session_id, workspace_id) SELECT '', id, $1 FROM sessions",
    "login_codes": "INSERT INTO login_codes (secret_hash, user_id, purpose, expires_at) VALUES ('', $1, 'cli', now())",
    "login_attempts": "INSERT INTO login_attempts (login, address, succeeded) VALUES ($1::uuid::text, '', true)",
    "audit_log": "INSERT INTO audit_log (actor_user_id, actor, action) VALUES ($1, 'owner', 'login')",
    "idempotency_keys": "INSERT INTO idempotency_keys (user_id, key, fingerprint) VALUES ($1, 'key', '')",
    "access_watermark": "INSERT INTO access_watermark (value) SELECT 0 WHERE $1::uuid IS NOT NULL",
}
"""How a row comes into each table, in the order in which they refer to each other. A new table needs its line here."""

TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version'"
SCHEMA = {
    "columns": """
        SELECT table_name, column_name, data_type, is_nullable, column_default, is_generated, generation_expression
        FROM information_schema.columns WHERE table_schema = 'public'
    """,
    "indexes": "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "constraints": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace
    """,
    "triggers": "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "functions": "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
}
"""All that a migration can make or change, in the server's own words."""


@pytest.fixture
async def connection(empty_database_url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(empty_database_url, statement_cache_size=0)  # tables change under it
    yield connection
    await connection.close()


async def tables_of(connection: asyncpg.Connection) -> set[str]:
    return {row["tablename"] for row in await connection.fetch(TABLES)}


async def fill(connection: asyncpg.Connection) -> None:
    """One row in every table that has none yet."""
    tables = await tables_of(connection)
    assert tables <= set(ROWS)
    for table, statement in ROWS.items():
        if table in tables and not await count(connection, table):
            await connection.execute(statement, ID)


async def count(connection: asyncpg.Connection, table: str) -> int:
    return int(await connection.fetchval(f"SELECT count(*) FROM {table}"))  # noqa: S608 (names of our own tables)


async def schema_of(connection: asyncpg.Connection) -> dict[str, list[str]]:
    """Without the table in which Alembic keeps its place."""
    found = {part: [str(tuple(row)) for row in await connection.fetch(query)] for part, query in SCHEMA.items()}
    return {part: sorted(each for each in rows if "alembic_version" not in each) for part, rows in found.items()}


async def test_each_step_keeps_the_rows_going_up_and_can_be_undone(
    empty_database_url: str, connection: asyncpg.Connection
) -> None:
    before = "base"
    for revision in (await migrate.schema_state(empty_database_url)).known:
        tables, schema = await tables_of(connection), await schema_of(connection)
        await migrate.upgrade(empty_database_url, revision)
        assert {table: await count(connection, table) for table in tables} == dict.fromkeys(tables, 1)
        await fill(connection)
        migrated = await schema_of(connection)
        await migrate.downgrade(empty_database_url, before)
        assert await schema_of(connection) == schema
        await migrate.upgrade(empty_database_url, revision)
        assert await schema_of(connection) == migrated
        await fill(connection)
        before = revision
    assert await tables_of(connection) == set(ROWS)


async def test_an_empty_database_comes_to_the_newest_schema(empty_database_url: str) -> None:
    before = await migrate.schema_state(empty_database_url)
    await migrate.upgrade(empty_database_url)
    after = await migrate.schema_state(empty_database_url)
    assert (before.current, before.is_current, before.is_newer) == (None, False, False)
    assert (after.current, after.is_current, after.is_newer) == (after.head, True, False)


async def test_a_current_database_is_left_as_it_is(empty_database_url: str, connection: asyncpg.Connection) -> None:
    await migrate.upgrade(empty_database_url)
    await fill(connection)
    schema = await schema_of(connection)
    await migrate.upgrade(empty_database_url)
    assert await schema_of(connection) == schema
    assert await count(connection, "workspaces") == 1


async def test_processes_that_migrate_at_once_do_not_disturb_each_other(empty_database_url: str) -> None:
    await asyncio.gather(*(migrate.upgrade(empty_database_url) for _ in range(4)))
    assert (await migrate.schema_state(empty_database_url)).is_current


async def test_a_schema_of_a_newer_version_is_recognised_and_left_alone(
    empty_database_url: str, connection: asyncpg.Connection
) -> None:
    await migrate.upgrade(empty_database_url)
    await connection.execute("UPDATE alembic_version SET version_num = '9999'")
    schema = await schema_of(connection)
    state = await migrate.schema_state(empty_database_url)
    assert (state.current, state.is_current, state.is_newer) == ("9999", False, True)
    with pytest.raises(CommandError):
        await migrate.upgrade(empty_database_url)
    assert await schema_of(connection) == schema


async def test_a_migration_that_fails_leaves_nothing_half_done(
    empty_database_url: str, connection: asyncpg.Connection
) -> None:
    await connection.execute("CREATE TABLE workspaces (id uuid)")
    with pytest.raises(ProgrammingError):
        await migrate.upgrade(empty_database_url)
    assert await tables_of(connection) == {"workspaces"}
    assert (await migrate.schema_state(empty_database_url)).current is None
    await connection.execute("DROP TABLE workspaces")
    await migrate.upgrade(empty_database_url)
    assert (await migrate.schema_state(empty_database_url)).is_current


def test_a_script_that_does_not_end_its_last_statement_is_refused() -> None:
    with pytest.raises(ValueError, match="does not end"):
        run("SELECT 1")
