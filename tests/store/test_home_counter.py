"""The counter is raised in the transaction of every fact that protects a home, and by nothing else."""

from collections.abc import AsyncIterator
from uuid import UUID

import asyncpg
import pytest

ADA = UUID(int=1)
ARCHIVE = """
    INSERT INTO archives (id, workspace_id, generation, key, size, checksum, entries, op_id)
    VALUES (gen_random_uuid(), $1, 1, 'key', 7, '', 3, gen_random_uuid())
"""
COUNTED = {
    "a new incarnation": "UPDATE workspaces SET op_volume = 'made'",
    "another incarnation": "UPDATE workspaces SET op_volume = 'made again'",
    "an archive that is kept": "UPDATE archives SET kept = true",
    "a workspace that is brought back": "UPDATE workspaces SET desired_state = 'RUNNING', deleted_at = NULL",
}
NOT_COUNTED = {
    "a name": "UPDATE workspaces SET name = 'orchard'",
    "a home": "UPDATE workspaces SET home_volume = 'made', op_volume = NULL",
    "a home that is let go of": "UPDATE workspaces SET op_volume = home_volume, home_volume = NULL",
    "an archive that is no longer kept": "UPDATE archives SET kept = false",
    "an archive that is proven again": "UPDATE archives SET verified_at = now()",
    "a deletion": "UPDATE workspaces SET desired_state = 'DELETED', deleted_at = now()",
    "a collected archive": "DELETE FROM archives",
}


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(database_url)
    await connection.execute("INSERT INTO users (id, login, password_hash) VALUES ($1, 'ada', '')", ADA)
    await connection.execute(
        "INSERT INTO workspaces (id, owner_user_id, name, desired_state) VALUES ($1, $1, 'garden', 'RUNNING')", ADA
    )
    yield connection
    await connection.close()


async def value(database: asyncpg.Connection) -> int:
    return int(await database.fetchval("SELECT value FROM home_counter"))


async def raised_by(database: asyncpg.Connection, statement: str) -> int:
    before = await value(database)
    await database.execute(statement)
    return await value(database) - before


async def test_a_new_archive_counts(database: asyncpg.Connection) -> None:
    await database.execute(ARCHIVE, ADA)
    assert await value(database) == 1


async def test_the_life_of_a_home(database: asyncpg.Connection) -> None:
    await database.execute(ARCHIVE, ADA)
    story = [
        *("a name", "a new incarnation", "another incarnation", "a home", "a home that is let go of"),
        *("an archive that is kept", "an archive that is proven again", "an archive that is no longer kept"),
        *("a deletion", "a workspace that is brought back", "a collected archive"),
    ]
    assert set(story) == {*COUNTED, *NOT_COUNTED}
    for what in story:
        raised = await raised_by(database, COUNTED.get(what) or NOT_COUNTED[what])
        assert raised == (what in COUNTED), what


async def test_what_is_rolled_back_was_not_counted(database: asyncpg.Connection) -> None:
    transaction = database.transaction()
    await transaction.start()
    await database.execute(ARCHIVE, ADA)
    await transaction.rollback()
    assert await value(database) == 0


async def test_the_counter_is_held_only_while_a_transaction_commits(
    database: asyncpg.Connection, database_url: str
) -> None:
    """An archive that is recorded in a long transaction keeps nobody from making a volume."""
    transaction = database.transaction()
    await transaction.start()
    await database.execute(ARCHIVE, ADA)
    other = await asyncpg.connect(database_url)
    try:
        await other.execute("SET lock_timeout = '2s'")
        await other.execute("UPDATE home_counter SET value = value")
    finally:
        await other.close()
    await transaction.commit()
    assert await value(database) == 1
