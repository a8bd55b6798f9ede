"""What one workspace exhausts is its own (controls C20, C22): each attack ends at a wall, and whoever stands beside it
works on."""

import shlex
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from codehub.runtimes.docker import container
from codehub.runtimes.docker.commands import run
from codehub.runtimes.docker.runtime import DockerRuntime
from tests.runtimes.docker.inside import House, root_only
from tests.runtimes.docker.tidy import clear
from tests.runtimes.docker.tool_image import HOST
from tests.runtimes.local.place import inside, place
from tests.security import attacks

SIZE = 24 * 1024**2
KILLED = 137
IN_A_CONTAINER = {
    "processes": {"EAGAIN"},
    "memory": {"killed"},
    "disk": {"ENOSPC"},
    "files": {"ENOSPC"},
    "sockets": {"EMFILE", "killed"},
}
"""Sockets take memory that is no process's own: where it is short, any process of the workspace may be killed."""
IN_A_SANDBOX = {"processes": {"EAGAIN"}, "memory": {"killed", "ENOMEM"}}
"""Its home has no size (docs/local-runtime.md)."""


def attacking(name: str) -> str:
    return shlex.join(["/usr/bin/python3", "-I", "-c", Path(attacks.__file__).read_text(), name, "0"])


@pytest.fixture
async def house(docker_image: str, tmp_path: Path) -> AsyncIterator[House]:
    installation = f"test-{uuid.uuid4().hex[:12]}"
    runtime = DockerRuntime(installation, HOST, homes_folder=tmp_path)
    try:
        yield House(runtime, docker_image, installation)
    finally:
        await runtime.close()
        await clear(installation, homes_folder=tmp_path)
        for point in filter(Path.is_mount, (tmp_path / installation).iterdir()):
            await run("umount", str(point))


@root_only
@pytest.mark.timeout(300)
async def test_an_attack_ends_at_the_walls_of_a_container(house: House) -> None:
    attacker, neighbour = await house.workspace(house.home(SIZE)), await house.workspace(house.home(SIZE))
    for name, walls in IN_A_CONTAINER.items():
        code, said = await house.run(attacker, attacking(name))
        assert {0: said, KILLED: "killed"}.get(code) in walls, f"{name}: {code} {said}"
        await house.says(neighbour, "echo still here > ~/after && cat ~/after")
        assert await house.runtime.instances.probe(neighbour)


@root_only
async def test_a_flood_of_output_is_kept_to_its_newest_part(house: House) -> None:
    attacker, neighbour = await house.workspace(house.home(SIZE)), await house.workspace(house.home(SIZE))
    assert await house.says(attacker, attacking("output")) == "no wall"
    path = (await house.inspect(attacker))["LogPath"]
    parts = list(Path(path).parent.glob(f"{Path(path).name}*"))
    assert 0 < sum(part.stat().st_size for part in parts) <= (container.LOG_FILES + 1) * container.LOG_BYTES
    assert await house.runtime.instances.probe(neighbour)


@pytest.mark.timeout(300)
async def test_an_attack_ends_at_the_walls_of_a_sandbox() -> None:
    async with place() as here:
        attacker, neighbour = await here.workspace(), await here.workspace()
        for name, walls in IN_A_SANDBOX.items():
            assert await inside(attacker, attacking(name)) in walls, name
            assert await inside(neighbour, "echo still here") == "still here"
            assert await here.open().instances.probe(neighbour)
