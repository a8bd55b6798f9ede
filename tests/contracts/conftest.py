"""The stores under test: PostgreSQL with roles that may write their own columns only, and the twin in memory."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from codehub.store import migrate
from codehub.store.protocols import CollectorStore, ControllerStore, ObserverStore
from tests.contracts.store_backends import AHEAD, Backend, MemoryBackend, PostgresBackend
from tests.contracts.store_grants import clock_ahead, grants
from tests.databases import create_database, drop_database, execute, with_database

TEMPLATE = "with_roles"


@pytest.fixture(scope="session")
def template_with_roles(postgres_url: str) -> str:
    """The name of a migrated database with one role for each writer; nothing ever connects to it again."""

    async def make() -> None:
        url = with_database(postgres_url, TEMPLATE)
        await execute(postgres_url, f"CREATE DATABASE {TEMPLATE}")
        await migrate.upgrade(url)
        await execute(url, "; ".join([*grants(), *clock_ahead(f"{AHEAD.days} days")]))

    asyncio.run(make())
    return TEMPLATE


@pytest.fixture
async def database_with_roles(postgres_url: str, template_with_roles: str) -> AsyncIterator[str]:
    url = await create_database(postgres_url, template_with_roles)
    yield url
    await drop_database(postgres_url, url)


@pytest.fixture
async def postgres(database_with_roles: str) -> AsyncIterator[PostgresBackend]:
    backend = PostgresBackend(database_with_roles)
    await backend.open()
    yield backend
    await backend.close()


@pytest.fixture
async def memory() -> AsyncIterator[MemoryBackend]:
    backend = MemoryBackend()
    yield backend
    await backend.close()


@pytest.fixture(params=["postgres", "memory"])
def backend(request: pytest.FixtureRequest) -> Backend:
    store: Backend = request.getfixturevalue(request.param)
    return store


@pytest.fixture
async def observer(backend: Backend) -> ObserverStore:
    return backend.observer(await backend.take("observer"))


@pytest.fixture
async def controller(backend: Backend) -> ControllerStore:
    return backend.controller(await backend.take("controller"))


@pytest.fixture
async def collector(backend: Backend) -> CollectorStore:
    return backend.collector(await backend.take("collector"))
