"""The front door of the tests."""

from collections.abc import AsyncIterator

import pytest

from tests.proxy.scene import Scene, opened


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    async with opened() as scene:
        yield scene
