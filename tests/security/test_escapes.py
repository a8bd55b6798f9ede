"""No way out of a workspace (control C18): each of a list is tried inside a real one, on either runtime."""

import json
import shlex
import uuid
from collections.abc import Mapping
from pathlib import Path

from codehub.runtimes.docker.runtime import DockerRuntime
from tests.runtimes.docker.inside import House
from tests.runtimes.docker.tidy import clear
from tests.runtimes.docker.tool_image import HOST
from tests.runtimes.local.place import inside, place
from tests.security import escape

TRY = f"/usr/bin/python3 -I -c {shlex.quote(Path(escape.__file__).read_text())}"
LEFT_TO_THE_ENGINE = {"rings of the kernel", "the kernel's cryptography", "the machine below this one"}
"""Barred by the filter of system calls that newer engines bring (docs/security.md)."""


async def on_docker(image: str) -> str:
    installation = f"test-{uuid.uuid4().hex[:12]}"
    runtime = DockerRuntime(installation, HOST)
    try:
        house = House(runtime, image, installation)
        return await house.says(await house.workspace(), TRY)
    finally:
        await runtime.close()
        await clear(installation)


async def in_a_sandbox() -> str:
    async with place() as here:
        return await inside(await here.workspace(), TRY)


def gained(said: str) -> Mapping[str, str]:
    tried = json.loads(said)
    assert list(tried) == list(escape.WAYS)
    return {name: found for name, found in tried.items() if found}


def test_the_list_is_long() -> None:
    assert len(escape.WAYS) >= 80


async def test_there_is_no_way_out_of_a_container(docker_image: str) -> None:
    assert set(gained(await on_docker(docker_image))) <= LEFT_TO_THE_ENGINE


async def test_there_is_no_way_out_of_a_sandbox() -> None:
    assert gained(await in_a_sandbox()) == {}
