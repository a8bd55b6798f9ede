"""A whole installation for each test: real PostgreSQL and Redis, and a runtime whose faults can be switched."""

from collections.abc import AsyncIterator, Callable

import pytest

from tests.coordinators.house import House


@pytest.fixture
async def house(
    database_url: str,
    redis_url: str,
    redis_prefix: Callable[[], str],
) -> AsyncIterator[House]:
    async with House.open(database_url, redis_url, redis_prefix()) as house:
        yield house
