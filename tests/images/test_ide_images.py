"""The real images, hardened as workspaces are. Building one takes minutes, so these run on one that is there:

codehub image build code-server && codehub image build jupyterlab
CODEHUB_TEST_IMAGE_BUILD=1 pytest tests/images/test_ide_images.py     builds them too, from nothing
"""

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from aiodocker import Docker
from aiodocker.containers import DockerContainer

from codehub.images.dockerfile import Recipe
from codehub.images.engine import find_image
from codehub.images.host_access import find_host_access
from codehub.images.image import ensure_image
from codehub.images.tools import CODE_SERVER, HOME, JUPYTERLAB, TOOLS, Tool

READY_SECONDS = 60


async def image_of(docker: Docker, tool: Tool) -> str:
    recipe = Recipe(tool)
    if await find_image(docker, recipe.tag) is None:
        pytest.skip(f"{recipe.tag} is not there: codehub image build {tool.name}")
    return recipe.tag


@pytest.fixture
async def home(docker: Docker) -> AsyncIterator[str]:
    volume = await docker.volumes.create({"Name": f"codehub-test-{uuid4().hex}"})
    yield volume.name
    await volume.delete()


@contextlib.asynccontextmanager
async def workspace(docker: Docker, image: str, home: str, **environment: str) -> AsyncIterator[DockerContainer]:
    config: dict[str, Any] = {
        "Image": image,
        "Env": [f"{name}={value}" for name, value in environment.items()],
        "HostConfig": {
            "ReadonlyRootfs": True,
            "Tmpfs": {"/tmp": "rw,exec,size=256m"},
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges"],
            "Init": True,
            "Memory": 2 * 1024**3,
            "PidsLimit": 512,
            "Mounts": [{"Type": "volume", "Source": home, "Target": HOME}],
        },
    }
    container = await docker.containers.create(config)
    try:
        await container.start()
        yield container
    finally:
        await container.delete(force=True)


async def answers(container: DockerContainer, port: int, path: str) -> httpx.Response:
    """The answer to a GET, as soon as there is a good one: code-server listens before it knows its own paths."""
    address = (await container.show())["NetworkSettings"]["IPAddress"]
    async with httpx.AsyncClient(base_url=f"http://{address}:{port}", follow_redirects=True) as client:
        async with asyncio.timeout(READY_SECONDS):
            while True:
                with contextlib.suppress(httpx.TransportError):
                    answer = await client.get(path)
                    if answer.is_success:
                        return answer
                await asyncio.sleep(0.1)


async def inside(container: DockerContainer, command: str) -> str:
    execution = await container.exec(["bash", "-c", command])
    said = b""
    async with execution.start() as stream:
        while (message := await stream.read_out()) is not None:
            said += message.data
    return said.decode().strip()


async def test_vs_code_is_served_and_a_file_in_the_home_survives(docker: Docker, home: str) -> None:
    image = await image_of(docker, CODE_SERVER)
    async with workspace(docker, image, home) as first:
        health = await answers(first, CODE_SERVER.port, CODE_SERVER.health_path)
        assert health.json()["status"] in {"alive", "expired"}
        page = await answers(first, CODE_SERVER.port, "/")
        assert "vscode-workbench-web-configuration" in page.text
        assert await inside(first, "id -u; stat -c %u:%g ~; echo kept > ~/note; touch /etc/x 2>&1 | tail -c 22") == (
            "1000\n1000:1000\nRead-only file system"
        )
        assert "password" not in await inside(first, "cat ~/.config/code-server/config.yaml")
    async with workspace(docker, image, home) as second:
        assert await inside(second, "cat ~/note") == "kept"


async def test_jupyterlab_answers_below_the_prefix_that_it_is_told(docker: Docker, home: str) -> None:
    image = await image_of(docker, JUPYTERLAB)
    async with workspace(docker, image, home, CODEHUB_BASE_PATH="/w/1/") as container:
        status = await answers(container, JUPYTERLAB.port, f"/w/1{JUPYTERLAB.health_path}")
        assert status.json()["kernels"] == 0
        page = await answers(container, JUPYTERLAB.port, "/w/1/lab")
        assert "<title>JupyterLab</title>" in page.text


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
async def test_common_tools_are_there(docker: Docker, home: str, tool: Tool) -> None:
    image = await image_of(docker, tool)
    async with workspace(docker, image, home) as container:
        for command in (
            "git --version",
            "curl --version",
            "python3 -m venv /tmp/x",
            "ssh -V",
            "rg --version",
            "nano --version",
        ):
            assert await inside(container, f"{command} >/dev/null 2>&1 && echo there") == "there", command


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
async def test_no_layer_remembers_how_this_machine_reaches_packages(docker: Docker, home: str, tool: Tool) -> None:
    image = await image_of(docker, tool)
    history = json.dumps(await docker.images.history(image))
    assert "/host" not in history
    async with workspace(docker, image, home) as container:
        assert await inside(container, "ls -d /host /build /etc/pip.conf 2>/dev/null") == ""


@pytest.mark.skipif("CODEHUB_TEST_IMAGE_BUILD" not in os.environ, reason="takes minutes; CODEHUB_TEST_IMAGE_BUILD=1")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
async def test_an_image_is_built_from_nothing(docker: Docker, tool: Tool) -> None:
    built = await ensure_image(docker, Recipe(tool), find_host_access(), lambda _: None, fresh=True)
    assert not built.was_there
    assert 100e6 < built.size_bytes < 1.5e9
