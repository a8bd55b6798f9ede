"""Programs of the standard library alone, run inside real workspaces of either runtime: each has `WAYS`, tries them,
and prints what became of each as JSON."""

import json
import shlex
import uuid
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from codehub.runtimes.docker.runtime import DockerRuntime
from tests.runtimes.docker.inside import House
from tests.runtimes.docker.tidy import clear
from tests.runtimes.docker.tool_image import HOST
from tests.runtimes.local.place import inside, place


async def in_a_container(image: str, program: ModuleType) -> Mapping[str, str]:
    """What it told of, by name."""
    installation = f"test-{uuid.uuid4().hex[:12]}"
    runtime = DockerRuntime(installation, HOST)
    try:
        house = House(runtime, image, installation)
        return _told(await house.says(await house.workspace(), _running(program)), program)
    finally:
        await runtime.close()
        await clear(installation)


async def in_a_sandbox(program: ModuleType) -> Mapping[str, str]:
    async with place() as here:
        return _told(await inside(await here.workspace(), _running(program)), program)


def _running(program: ModuleType) -> str:
    return f"/usr/bin/python3 -I -c {shlex.quote(Path(str(program.__file__)).read_text())}"


def _told(said: str, program: ModuleType) -> Mapping[str, str]:
    tried = json.loads(said)
    assert list(tried) == list(program.WAYS)
    return {name: found for name, found in tried.items() if found}
