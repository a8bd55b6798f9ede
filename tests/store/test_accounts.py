"""The account with which an installation begins."""

import asyncio

import asyncpg
from argon2 import PasswordHasher

from codehub.store.accounts import create_first_administrator

PASSWORD = "correct horse battery staple"


async def user(database_url: str) -> asyncpg.Record:
    connection = await asyncpg.connect(database_url)
    [row] = await connection.fetch("SELECT * FROM users")
    await connection.close()
    return row


async def test_only_the_first_administrator_is_made(database_url: str) -> None:
    made = await asyncio.gather(*(create_first_administrator(database_url, f"admin{n}", PASSWORD) for n in range(4)))
    assert sorted(made) == [False, False, False, True]
    assert (await user(database_url))["login"] == f"admin{made.index(True)}"


async def test_a_second_one_changes_nothing(database_url: str) -> None:
    await create_first_administrator(database_url, "admin", PASSWORD)
    before = await user(database_url)
    assert not await create_first_administrator(database_url, "admin", "another")
    assert await user(database_url) == before


async def test_the_password_is_kept_as_a_hash_that_verifies(database_url: str) -> None:
    await create_first_administrator(database_url, "admin", PASSWORD)
    row = await user(database_url)
    assert (row["role"], row["disabled"]) == ("admin", False)
    assert PasswordHasher().verify(row["password_hash"], PASSWORD)
    assert PASSWORD not in str(row)
