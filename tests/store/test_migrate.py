"""Every migration goes up and down on a database with rows, and several processes may migrate at once."""

import asyncio

from codehub.store import migrate
from codehub.store.accounts import create_first_administrator


async def test_an_empty_database_comes_to_the_newest_schema(empty_database_url: str) -> None:
    before = await migrate.schema_state(empty_database_url)
    await migrate.upgrade(empty_database_url)
    after = await migrate.schema_state(empty_database_url)
    assert (before.current, before.is_current, before.is_newer) == (None, False, False)
    assert (after.current, after.is_current, after.is_newer) == (after.head, True, False)


async def test_processes_that_migrate_at_once_do_not_disturb_each_other(empty_database_url: str) -> None:
    await asyncio.gather(*(migrate.upgrade(empty_database_url) for _ in range(4)))
    assert (await migrate.schema_state(empty_database_url)).is_current


async def test_only_the_first_administrator_is_made(database_url: str) -> None:
    made = await asyncio.gather(*(create_first_administrator(database_url, f"admin{n}", "secret") for n in range(4)))
    assert sorted(made) == [False, False, False, True]
