"""A database of its own for each test, cloned from one that the migrations made."""

from collections.abc import AsyncIterator
from uuid import uuid4

import asyncpg
import pytest
from sqlalchemy import make_url

from codehub.store import migrate

TEMPLATE = "migrated"


def with_database(url: str, name: str) -> str:
    return make_url(url).set(database=name).render_as_string(hide_password=False)


async def execute(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


async def create_database(url: str, template: str = "template1") -> str:
    name = f"test_{uuid4().hex}"
    await execute(url, f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
    return with_database(url, name)


async def drop_database(url: str, database_url: str) -> None:
    await execute(url, f"DROP DATABASE {make_url(database_url).database} WITH (FORCE)")


@pytest.fixture(scope="session")
def migrated_template(postgres_url: str) -> str:
    """The name of a database that the migrations made; nothing ever connects to it again."""
    import asyncio

    async def make() -> None:
        await execute(postgres_url, f"CREATE DATABASE {TEMPLATE}")
        await migrate.upgrade(with_database(postgres_url, TEMPLATE))

    asyncio.run(make())
    return TEMPLATE


@pytest.fixture
async def database_url(postgres_url: str, migrated_template: str) -> AsyncIterator[str]:
    url = await create_database(postgres_url, migrated_template)
    yield url
    await drop_database(postgres_url, url)


@pytest.fixture
async def empty_database_url(postgres_url: str) -> AsyncIterator[str]:
    url = await create_database(postgres_url)
    yield url
    await drop_database(postgres_url, url)
