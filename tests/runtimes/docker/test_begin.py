"""A container whose own command is started by a program of codehub's."""

import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from codehub.images.inside import lay_out
from codehub.model import inside
from codehub.runtimes.docker.runtime import DockerRuntime
from tests.runtimes.docker.inside import House
from tests.runtimes.docker.tidy import clear
from tests.runtimes.docker.tool_image import COMMAND, HOST


@pytest.fixture
async def house(docker_image: str, tmp_path: Path) -> AsyncIterator[House]:
    """One that shows its workspaces what they may ask."""
    assert lay_out(tmp_path / "inside")
    installation = f"test-{uuid.uuid4().hex[:12]}"
    runtime = DockerRuntime(installation, HOST, inside_folder=tmp_path / "inside")
    try:
        yield House(runtime, docker_image, installation)
    finally:
        await runtime.close()
        await clear(installation)


async def test_it_runs_what_its_image_runs_also_where_nothing_can_be_cloned(house: House) -> None:
    """The image has neither Python nor git."""
    home = house.home()
    await house.runtime.volumes.create(home)
    await house.runtime.instances.start(replace(house.spec(home), begin=inside.BEGIN))
    workspace = await house.workspace(home)  # goes on with the one that is there
    assert await house.says(workspace, "cat ~/starts") == "started"
    seen = (await house.inspect(workspace))["Config"]
    assert (seen["Entrypoint"], seen["Cmd"]) == ([inside.BEGIN], [COMMAND])
