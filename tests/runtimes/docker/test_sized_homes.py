"""Homes with an end: a full one is full for its owner alone, and neither a crash nor a reboot loses or replaces it."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from codehub.runtimes.docker.commands import run
from codehub.runtimes.docker.runtime import DockerRuntime
from codehub.runtimes.errors import InUse, RuntimeFault
from tests.runtimes.docker.inside import House, root_only
from tests.runtimes.docker.tidy import clear
from tests.runtimes.docker.tool_image import HOST

pytestmark = root_only

MIB = 1024**2
SIZE = 24 * MIB


@pytest.fixture
async def sized(docker_image: str, tmp_path: Path) -> AsyncIterator[House]:
    installation = f"test-{uuid.uuid4().hex[:12]}"
    runtime = DockerRuntime(installation, HOST, homes_folder=tmp_path, job_image=docker_image)
    try:
        yield House(runtime, docker_image, installation)
    finally:
        await clear(installation)
        for point in filter(Path.is_mount, (tmp_path / installation).iterdir()):
            await run("umount", str(point))
        await runtime.close()


def folder(house: House, tmp_path: Path) -> Path:
    return tmp_path / house.installation


async def test_a_full_home_is_full_for_its_owner_alone(sized: House) -> None:
    workspace, neighbour = await sized.workspace(sized.home(SIZE)), await sized.workspace(sized.home(SIZE))
    code, said = await sized.run(workspace, "dd if=/dev/zero of=/home/coder/big bs=1M count=64")
    assert (code, "No space left" in said) == (1, True)
    assert SIZE // 2 < await sized.runtime.volumes.usage(workspace.volume) <= SIZE
    assert await sized.runtime.volumes.usage(neighbour.volume) < MIB
    await sized.says(neighbour, "dd if=/dev/zero of=/home/coder/some bs=1M count=8")


async def test_it_is_empty_at_first_and_belongs_to_the_workspace(sized: House) -> None:
    workspace = await sized.workspace(sized.home(SIZE))
    assert await sized.says(workspace, "ls -A /home/coder") == "starts"
    mounts = await sized.says(workspace, "grep /home/coder /proc/mounts")
    assert "nosuid,nodev" in mounts


async def test_files_survive_a_reboot(sized: House, tmp_path: Path) -> None:
    home = sized.home(SIZE)
    workspace = await sized.workspace(home)
    await sized.says(workspace, "echo precious > ~/file")
    await sized.runtime.instances.stop(workspace.id, 1)
    await run("umount", str(folder(sized, tmp_path) / home.name))
    assert await sized.runtime.volumes.usage(home.name) > 0
    await sized.runtime.volumes.create(home)  # by a leader that does not know it was made
    again = await sized.workspace(home)
    assert await sized.says(again, "cat ~/file") == "precious"


async def test_it_is_deleted_with_all_that_belongs_to_it_and_never_in_use(sized: House, tmp_path: Path) -> None:
    home = sized.home(SIZE)
    workspace = await sized.workspace(home)
    with pytest.raises(InUse):
        await sized.runtime.volumes.delete(home.name)
    assert await sized.says(workspace, "cat ~/starts") == "started"
    await sized.runtime.instances.stop(workspace.id, 1)
    await sized.runtime.volumes.delete(home.name)
    await sized.runtime.volumes.delete(home.name)
    assert list(folder(sized, tmp_path).iterdir()) == []


async def test_two_who_make_it_at_once_make_one(sized: House, tmp_path: Path) -> None:
    home = sized.home(SIZE)
    await asyncio.gather(*(sized.runtime.volumes.create(home) for _ in range(3)))
    left = sorted(each.name for each in folder(sized, tmp_path).iterdir())
    assert left == [home.name, f"{home.name}.ext4"]
    await sized.runtime.volumes.delete(home.name)
    assert list(folder(sized, tmp_path).iterdir()) == []


async def test_a_size_that_holds_no_file_system_is_refused_and_leaves_no_home(sized: House) -> None:
    home = sized.home(4096)
    with pytest.raises(RuntimeFault, match=r"mkfs\.ext4"):
        await sized.runtime.volumes.create(home)
    assert await sized.runtime.volumes.list() == ()
    await sized.runtime.volumes.delete(home.name)


async def test_nothing_is_found_open_where_homes_have_sizes(sized: House) -> None:
    await sized.workspace(sized.home(SIZE))
    assert await sized.runtime.findings() == []
