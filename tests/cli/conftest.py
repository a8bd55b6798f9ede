from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from codehub.store import migrate
from tests.cli.command import Command
from tests.store.conftest import create_database, drop_database


@pytest.fixture
def codehub(tmp_path: Path) -> Command:
    return Command(tmp_path)


@pytest.fixture
async def empty_database_url(postgres_url: str) -> AsyncIterator[str]:
    url = await create_database(postgres_url)
    yield url
    await drop_database(postgres_url, url)


@pytest.fixture
async def database_url(empty_database_url: str) -> str:
    await migrate.upgrade(empty_database_url)
    return empty_database_url
