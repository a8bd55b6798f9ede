import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from codehub.model.accounts import Role
from tests.cli.command import Command
from tests.cli.serving import Person, Served, person, served
from tests.databases import create_database, drop_database
from tests.faults.real_house import new_installation
from tests.folders import short_folder


@pytest.fixture
def codehub(tmp_path: Path) -> Command:
    return Command(tmp_path)


@pytest.fixture(scope="session")
def server(postgres_url: str, migrated_template: str, redis_url: str) -> Iterator[Served]:
    """One for all tests of commands; each of them is somebody else there."""
    url = asyncio.run(create_database(postgres_url, migrated_template))
    asyncio.run(new_installation(url))
    with short_folder() as folder, served(url, redis_url, folder) as running:
        yield running
    asyncio.run(drop_database(postgres_url, url))


@pytest.fixture
async def ada(server: Served, tmp_path: Path) -> Person:
    """Somebody who works here."""
    return await person(server, tmp_path)


@pytest.fixture
async def root(server: Served, tmp_path: Path) -> Person:
    """An administrator."""
    return await person(server, tmp_path, Role.ADMIN)


@pytest.fixture
async def eve(server: Served, tmp_path: Path) -> Person:
    """Somebody else."""
    return await person(server, tmp_path)
