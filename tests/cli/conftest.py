from collections.abc import Iterator
from pathlib import Path

import pytest

from codehub.model.accounts import Role
from tests.cli.command import Command
from tests.cli.serving import Person, Served, person, served
from tests.faults.real_house import database_of_its_own
from tests.folders import short_folder


@pytest.fixture
def codehub(tmp_path: Path) -> Command:
    return Command(tmp_path)


@pytest.fixture(scope="session")
def server(postgres_url: str, migrated_template: str, redis_url: str) -> Iterator[Served]:
    """One for all tests of commands; each of them is somebody else there."""
    with (
        database_of_its_own(postgres_url, migrated_template) as url,
        short_folder() as folder,
        served(url, redis_url, folder) as running,
    ):
        yield running


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
