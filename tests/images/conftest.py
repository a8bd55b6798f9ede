"""A Docker engine, where one answers, and a database of its own for each test that asks."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from aiodocker import Docker

from codehub.errors import ServiceError
from codehub.images.engine import find_image, open_engine


@pytest.fixture
async def docker() -> AsyncIterator[Docker]:
    try:
        async with open_engine() as engine:
            yield engine
    except ServiceError as error:
        pytest.skip(str(error))


@pytest.fixture
async def tag(docker: Docker) -> AsyncIterator[str]:
    """A name for an image that no other test uses; what was built under it is removed."""
    name = f"codehub-test/tiny:{uuid4().hex}"
    yield name
    if await find_image(docker, name) is not None:
        await docker.images.delete(name, force=True)
