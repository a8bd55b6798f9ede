"""Whatever listens on this machine is closed to workspaces (control C16): every port that is open anywhere on it, tried
from inside over every address of it."""

import json
import shlex
import uuid
from collections.abc import AsyncIterator

import psutil  # type: ignore[import-untyped]
import pytest

from codehub.runtimes.docker.runtime import DockerRuntime
from codehub.runtimes.local import network
from tests.runtimes.docker.inside import House, root_only
from tests.runtimes.docker.outside import address_of, host_addresses, service_of_the_host
from tests.runtimes.docker.tidy import clear
from tests.runtimes.docker.tool_image import HOST
from tests.runtimes.local.place import Place, inside, place

SCAN = """
import asyncio, json, sys
async def opens(address, port):
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(address, port), 3)
    except (OSError, TimeoutError):
        return None
    writer.close()
    return f"{address}:{port}"
async def scan():
    tried = [opens(address, port) for address in sys.argv[1].split() for port in sys.argv[2].split()]
    print(json.dumps([each for each in await asyncio.gather(*tried) if each]))
asyncio.run(scan())
"""
needs_network = pytest.mark.skipif(network.obstacle() is not None, reason=f"no network here: {network.obstacle()}")


def scanning(addresses: list[str], ports: list[int]) -> str:
    command = ["/usr/bin/python3", "-I", "-c", SCAN, " ".join(addresses), " ".join(map(str, ports))]
    return shlex.join(command)


def listening() -> list[int]:
    found = psutil.net_connections("tcp")
    return sorted({each.laddr.port for each in found if each.status == psutil.CONN_LISTEN})


@pytest.fixture
async def house(docker_image: str) -> AsyncIterator[House]:
    installation = f"test-{uuid.uuid4().hex[:12]}"
    runtime = DockerRuntime(installation, HOST)
    try:
        yield House(runtime, docker_image, installation)
    finally:
        await runtime.close()
        await clear(installation)


@pytest.fixture
async def here() -> AsyncIterator[Place]:
    async with place() as made:
        yield made


@root_only
async def test_no_port_of_the_host_is_open_to_a_container(house: House) -> None:
    there = await host_addresses()
    workspace, neighbour = await house.workspace(), await house.workspace()
    async with service_of_the_host() as known:
        ports = listening()
        assert known in ports
        addresses = [*there, address_of(neighbour)]
        found = json.loads(await house.says(workspace, scanning(addresses, [*ports, 8080])))
        assert found == []
        own = json.loads(await house.says(workspace, scanning([address_of(workspace)], [8080])))
        assert own == [f"{address_of(workspace)}:8080"]  # so that the scan can find something


@needs_network
async def test_no_port_of_the_host_is_open_to_a_sandbox(here: Place) -> None:
    there = await host_addresses()  # those that come later are closed to workspaces that start later
    workspace = await here.workspace()
    async with service_of_the_host() as known:
        ports = listening()
        assert known in ports
        gateways = [str(address) for address in network.SUBNET][:5]
        addresses = [*there, *gateways, "127.0.0.1"]
        assert json.loads(await inside(workspace, scanning(addresses, ports))) == []
