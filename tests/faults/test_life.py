"""A workspace's whole life through `codehub serve`, on the real engine: made, stopped, started, deleted."""

import os
from pathlib import Path
from uuid import UUID

import aiodocker
import httpx
import pytest

from codehub.images.dockerfile import Recipe
from codehub.images.engine import find_image
from codehub.images.host_access import find_host_access
from codehub.images.image import ensure_image
from codehub.images.templates import BUILT_IN
from codehub.images.tools import CODE_SERVER
from codehub.model.states import Desired, Phase
from codehub.runtimes.protocols import Instance
from tests.faults.real_house import DockerHouse
from tests.faults.serving import replicas


async def page(instance: Instance, path: str) -> str:
    """What a visitor gets from it over HTTP."""
    assert instance.endpoint is not None
    async with httpx.AsyncClient(follow_redirects=True) as client:
        answer = await client.get(f"http://{instance.endpoint.address}:{instance.endpoint.port}{path}", timeout=20)
    answer.raise_for_status()
    return answer.text


async def live(house: DockerHouse, path: str, expected: str) -> None:
    """From creation to deletion; at `path` its IDE answers with something that holds what is expected."""
    workspace_id = await house.create()
    await house.until_phase(workspace_id, Phase.RUNNING)
    first = await house.instance(workspace_id)
    assert expected in await page(first, path)
    await house.inside(workspace_id, "echo kept > ~/note")

    await house.wish(workspace_id, Desired.STANDBY)
    await house.until_phase(workspace_id, Phase.STANDBY)
    assert not await house.eyes.instances.list(workspace_id)

    await house.wish(workspace_id, Desired.RUNNING)
    await house.until_phase(workspace_id, Phase.RUNNING)
    second = await house.instance(workspace_id)
    assert second.id != first.id
    assert expected in await page(second, path)
    assert await house.inside(workspace_id, "cat ~/note") == "kept"

    await house.wish(workspace_id, Desired.DELETED)
    await house.until_phase(workspace_id, Phase.DELETED)
    assert await house.is_gone(workspace_id)
    assert not await named_after(house, workspace_id)


async def named_after(house: DockerHouse, workspace_id: UUID) -> list[str]:
    """What the engine still has under the workspace's name, whatever its labels say."""
    containers = await house.docker.containers.list(all=True, filters={"name": [workspace_id.hex]})
    volumes = (await house.docker.volumes.list(filters={"name": [workspace_id.hex]}))["Volumes"]
    return [*(each.id for each in containers), *(each["Name"] for each in volumes or ())]


async def test_the_life_of_a_workspace(house: DockerHouse, redis_url: str, tmp_path: Path) -> None:
    with replicas(house, redis_url, tmp_path) as codehub:
        codehub.start()
        await live(house, "/starts", "started")


async def require_vs_code(docker: aiodocker.Docker) -> None:
    """Its image: found, with CODEHUB_TEST_IMAGE_BUILD=1 built, else the test is skipped."""
    recipe = Recipe(CODE_SERVER)
    if "CODEHUB_TEST_IMAGE_BUILD" in os.environ:
        await ensure_image(docker, recipe, find_host_access(), lambda _: None)
    elif await find_image(docker, recipe.tag) is None:
        pytest.skip(f"{recipe.tag} is not there: codehub image build {CODE_SERVER.name}")


@pytest.mark.timeout(3600 if "CODEHUB_TEST_IMAGE_BUILD" in os.environ else 180)
async def test_the_life_of_a_workspace_with_vs_code(house: DockerHouse, redis_url: str, tmp_path: Path) -> None:
    await require_vs_code(house.docker)
    house.template = BUILT_IN[CODE_SERVER.name].id

    with replicas(house, redis_url, tmp_path) as codehub:
        codehub.start()
        await house.until_offered()
        await live(house, "/", "vscode-workbench-web-configuration")
