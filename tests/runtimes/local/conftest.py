"""A place of its own for each test."""

from collections.abc import AsyncIterator

import pytest

from tests.runtimes.local.place import Place, place


@pytest.fixture
async def here() -> AsyncIterator[Place]:
    async with place() as made:
        yield made
