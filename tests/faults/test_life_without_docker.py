"""The same life on a machine without an engine: in sandboxes, with the tests' small tool and with real IDEs.

Real ones are those of the installation on this machine, or of the folder `ide` that CODEHUB_TEST_IDES names."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

import httpx
import pytest

from codehub.images.local_ide import installed
from codehub.images.templates import BUILT_IN
from codehub.images.tools import TOOLS, Tool
from codehub.model.states import Desired, Phase
from codehub.runtimes.local.runtime import LocalRuntime
from codehub.runtimes.local.tool import Tools
from codehub.runtimes.protocols import Instance
from codehub.settings import Settings
from tests.faults.real_house import RealHouse, new_installation
from tests.faults.serving import replicas
from tests.folders import short_folder
from tests.runtimes.local.place import TOOL, place

JOBS_SECONDS = 300
"""They have the lowest priority, and others may keep the machine busy."""
NO_ENGINE = {"RUNTIME": "local", "RUNTIME_DOCKER_HOST": "unix:///nowhere/docker.sock"}


@pytest.fixture
async def house(database_url: str, redis_url: str, redis_prefix: Callable[[], str]) -> AsyncIterator[RealHouse]:
    async with RealHouse.open(database_url, redis_url, redis_prefix()) as house:
        yield house


@asynccontextmanager
async def opened(house: RealHouse, data: Path, tools: Tools) -> AsyncIterator[None]:
    """Its workspaces live in this data folder; none is left there afterwards."""
    installation = await new_installation(house.database_url)
    house.open_runtime = lambda fence: LocalRuntime(data, installation, tools, fence)
    house.eyes = house.open_runtime(lambda: None)
    try:
        yield
    finally:
        for replica in house.replicas:
            await replica.stop()
        for instance in await house.eyes.instances.list():
            await house.eyes.instances.stop(instance.id, 0)
        for job in await house.eyes.jobs.list():
            await house.eyes.jobs.remove(job.name)
        for volume in await house.eyes.volumes.list():
            await house.eyes.volumes.delete(volume.name)


async def answer(instance: Instance, path: str) -> httpx.Response:
    assert instance.endpoint is not None
    transport = httpx.AsyncHTTPTransport(uds=instance.endpoint.address.removeprefix("unix:"))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", follow_redirects=True) as client:
        found = await client.get(path, timeout=20)
    return found.raise_for_status()


async def live(house: RealHouse, data: Path, path: str) -> None:
    """From creation to deletion; its IDE answers at `path`."""
    workspace_id = await house.create()
    row = await house.until_phase(workspace_id, Phase.RUNNING)
    await answer(await house.instance(workspace_id), path)
    assert row.home_volume is not None
    note = data / "local/volumes" / row.home_volume / "home/note"
    note.write_text("kept")

    await house.wish(workspace_id, Desired.STANDBY)
    await house.until_phase(workspace_id, Phase.STANDBY)
    assert not await house.eyes.instances.list(workspace_id)
    assert note.read_text() == "kept"

    await house.wish(workspace_id, Desired.RUNNING)
    await house.until_phase(workspace_id, Phase.RUNNING)
    await answer(await house.instance(workspace_id), path)
    assert note.read_text() == "kept"

    await house.wish(workspace_id, Desired.ARCHIVED)
    await house.until_phase(workspace_id, Phase.ARCHIVED, JOBS_SECONDS)
    assert await house.is_gone(workspace_id)
    assert not left_of(workspace_id, data)

    await house.wish(workspace_id, Desired.RUNNING)
    row = await house.until_phase(workspace_id, Phase.RUNNING, JOBS_SECONDS)
    await answer(await house.instance(workspace_id), path)
    assert row.home_volume is not None
    assert (data / "local/volumes" / row.home_volume / "home/note").read_text() == "kept"

    await house.wish(workspace_id, Desired.DELETED)
    await house.until_phase(workspace_id, Phase.DELETED)
    assert await house.is_gone(workspace_id)
    assert not left_of(workspace_id, data)


def left_of(workspace_id: UUID, data: Path) -> list[Path]:
    return [*data.glob(f"local/**/*{workspace_id.hex}*")]


async def test_the_life_of_a_workspace(house: RealHouse) -> None:
    async with place() as here, opened(house, here.data, here.tools.get):
        await house.furnish(TOOL)
        house.replica()
        await live(house, here.data, "/starts")


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
async def test_the_life_of_a_workspace_with_a_real_ide(house: RealHouse, redis_url: str, tool: Tool) -> None:
    ides = Path(os.environ.get("CODEHUB_TEST_IDES", Settings.load().ide_folder))
    if installed(tool, ides) is None:
        pytest.skip(f"{tool.name} {tool.release} is not installed in {ides}")
    house.template = BUILT_IN[tool.name].id

    with short_folder() as folder:
        data = folder / "data"
        async with opened(house, data, lambda _: None):
            with replicas(house, redis_url, folder, **NO_ENGINE) as codehub:
                (data / "ide").symlink_to(ides)
                codehub.start()
                await house.until_offered()
                await live(house, data, tool.health_path)
