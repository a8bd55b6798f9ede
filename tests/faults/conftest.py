"""Installations with real workspaces, one for each test."""

from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from tests.faults.real_house import DockerHouse, docker_house
from tests.runtimes.docker.tool_image import tool_image


@pytest.fixture(scope="session")
def docker_image() -> Iterator[str]:
    with tool_image() as image:
        yield image


@pytest.fixture
async def house(
    database_url: str, redis_url: str, redis_prefix: Callable[[], str], docker_image: str
) -> AsyncIterator[DockerHouse]:
    async with docker_house(database_url, redis_url, redis_prefix(), docker_image) as house:
        yield house
