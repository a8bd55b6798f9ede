"""A whole `codehub serve` whose workspaces are containers with the real IDEs, and the front door before them."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

import aiodocker
import pytest

from codehub.errors import ServiceError
from codehub.images.dockerfile import Recipe
from codehub.images.engine import find_image, open_engine
from codehub.images.host_access import find_host_access
from codehub.images.image import ensure_image
from codehub.images.tools import Tool
from codehub.runtimes.docker.runtime import DockerRuntime
from tests.coordinators.house import until
from tests.databases import create_database, drop_database
from tests.faults.real_house import new_installation
from tests.folders import short_folder
from tests.front_door.house import House, Person, house
from tests.images.test_ide_images import inside
from tests.job.campaign import LARGE
from tests.runtimes.docker.tidy import clear
from tests.runtimes.docker.tool_image import HOST

in_campaigns = pytest.mark.skipif(not LARGE, reason="takes minutes; CODEHUB_TEST_CAMPAIGN=1")
SHARED_HOST = "workspaces.localhost"
SEEN_SECONDS = 180.0


@dataclass(frozen=True)
class Home:
    """The home of a workspace that runs, seen from inside its container."""

    installation: str
    workspace_id: UUID

    async def run(self, command: str) -> str:
        """What a shell command prints there."""
        runtime = DockerRuntime(self.installation, HOST)
        try:
            (instance,) = await runtime.instances.list(self.workspace_id)
            async with aiodocker.Docker(url=HOST) as client:
                return await inside(client.containers.container(instance.id), command)
        finally:
            await runtime.close()

    async def until_prints(self, command: str, expected: str, seconds: float = SEEN_SECONDS) -> None:
        said = ""

        async def prints() -> bool | None:
            nonlocal said
            said = await self.run(command)
            return said == expected or None

        with contextlib.suppress(TimeoutError):
            await until(prints, seconds)
        assert said == expected


@dataclass(frozen=True)
class IdeHouse:
    codehub: House
    installation: str

    def home(self, workspace_id: UUID) -> Home:
        return Home(self.installation, workspace_id)

    def address(self, workspace_id: UUID) -> str:
        return f"{self.codehub.browser().origin(workspace_id)}/"

    async def person(self) -> Person:
        return await self.codehub.person(max_running=99)


async def require_image(tool: Tool) -> None:
    """Skip where it is not there; building it takes minutes, so that has to be asked for."""
    recipe = Recipe(tool)
    try:
        async with open_engine() as docker:
            if "CODEHUB_TEST_IMAGE_BUILD" in os.environ:
                await ensure_image(docker, recipe, find_host_access(), lambda _: None)
            elif await find_image(docker, recipe.tag) is None:
                pytest.skip(f"{recipe.tag} is not there: codehub image build {tool.name}")
    except ServiceError as error:
        pytest.skip(str(error))


@contextmanager
def ide_house(
    postgres_url: str, template: str, redis_url: str, *, is_by_path: bool = False, **environment: str
) -> Iterator[IdeHouse]:
    """Nothing of it is left on the engine afterwards."""
    url = asyncio.run(create_database(postgres_url, template))
    installation = asyncio.run(new_installation(url))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    if is_by_path:
        environment["PROXY_ORIGIN"] = f"http://{SHARED_HOST}:{port}"
    with short_folder() as folder:
        try:
            with house(url, redis_url, folder, port, RUNTIME="docker", **environment) as running:
                yield IdeHouse(running, installation)
        finally:
            asyncio.run(clear(installation, homes_folder=folder / "data" / "homes"))
    asyncio.run(drop_database(postgres_url, url))
