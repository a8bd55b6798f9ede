"""An installation of its own on the real engine for each test, and a way to look at it from inside."""

import uuid
from collections.abc import AsyncIterator, Iterator

import pytest

from codehub.runtimes.docker.runtime import DockerRuntime
from tests.runtimes.docker.inside import House
from tests.runtimes.docker.tidy import clear
from tests.runtimes.docker.tool_image import HOST, tool_image


@pytest.fixture(scope="session")
def docker_image() -> Iterator[str]:
    with tool_image() as image:
        yield image


@pytest.fixture
async def house(docker_image: str) -> AsyncIterator[House]:
    installation = f"test-{uuid.uuid4().hex[:12]}"
    runtime = DockerRuntime(installation, HOST, job_image=docker_image)
    try:
        yield House(runtime, docker_image, installation)
    finally:
        await runtime.close()
        await clear(installation)
