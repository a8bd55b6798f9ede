"""Homes on the real engine: never replaced by empty ones, and counted by whoever can."""

import http.client
import os
import socket
from pathlib import Path

import aiodocker
import pytest

from codehub.runtimes.docker.runtime import DockerRuntime
from codehub.runtimes.docker.volumes import DockerVolumes
from codehub.runtimes.errors import NotFound
from tests.runtimes.docker.inside import House, root_only
from tests.runtimes.docker.tool_image import HOST, SOCKET


def delete_at_once(volume: str) -> None:
    """While everything in this process stands still."""
    connection = http.client.HTTPConnection("localhost")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(str(SOCKET))
    connection.request("DELETE", f"/volumes/{volume}")
    assert connection.getresponse().status == 204
    connection.close()


async def test_a_home_that_vanishes_while_it_is_started_is_not_replaced_by_an_empty_one(house: House) -> None:
    """The last look finds it, then it is gone, and the engine would make a new one for the container."""
    vanish: list[str] = []
    runtime = DockerRuntime(house.installation, HOST, lambda: delete_at_once(vanish.pop()) if vanish else None)
    await runtime._network.take_address()  # network and rules are there, so that the creation is the next act
    home = house.home()
    await runtime.volumes.create(home)
    vanish.append(home.name)
    with pytest.raises(NotFound):
        await runtime.instances.start(house.spec(home))
    await runtime.close()
    assert await house.runtime.instances.list(home.workspace_id) == ()
    async with aiodocker.Docker(url=HOST) as client:
        assert home.name not in [each["Name"] for each in (await client.volumes.list())["Volumes"]]


async def test_what_a_home_holds_is_counted_the_same_by_us_and_by_the_engine(house: House) -> None:
    workspace = await house.workspace()
    await house.says(workspace, "cd ~ && dd if=/dev/zero of=big bs=1M count=3 && ln big again && ln -s / root && sync")
    ours = await house.runtime.volumes.usage(workspace.volume)
    theirs = await DockerVolumes(house.runtime._api, house.installation, reach=False).usage(workspace.volume)
    assert 3 * 1024**2 <= ours < 4 * 1024**2
    assert abs(ours - theirs) < 65536


@root_only
async def test_a_home_of_any_depth_is_counted_and_deleted(house: House) -> None:
    home = house.home()
    await house.runtime.volumes.create(home)
    dig(await house.runtime.volumes.require(home.name), depth=5000)
    assert await house.runtime.volumes.usage(home.name) >= 5000 * 4096
    await house.runtime.volumes.delete(home.name)
    assert await house.runtime.volumes.list(home.workspace_id) == ()


def dig(folder: Path, depth: int) -> None:
    """Folders within folders, far beyond the longest path that can be named."""
    here = os.open(folder, os.O_DIRECTORY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_DIRECTORY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
