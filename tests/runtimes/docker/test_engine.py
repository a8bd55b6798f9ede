"""The engine itself: away in the middle of things, used by others too, and what it says told in our words."""

import asyncio
import uuid
from contextlib import aclosing
from pathlib import Path
from typing import Any

import aiodocker
import pytest
from aiodocker.exceptions import DockerError

from codehub.runtimes.docker import images, labels
from codehub.runtimes.docker.api import fault_of
from codehub.runtimes.docker.runtime import DockerRuntime
from codehub.runtimes.errors import ImageUnavailable, RegistryAway, RuntimeAway, RuntimeFault
from tests.runtimes.docker.inside import House, root_only
from tests.runtimes.docker.line import line_to_engine
from tests.runtimes.docker.tidy import clear
from tests.runtimes.docker.tool_image import HOST


async def test_an_engine_that_goes_away_ends_the_stream_and_is_found_again(house: House, tmp_path: Path) -> None:
    runtime = DockerRuntime(house.installation, f"unix://{tmp_path / 'line.sock'}")
    async with line_to_engine(tmp_path / "line.sock") as engine, aclosing(runtime.instances.watch()) as events:
        following = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0)
        instance = await house.workspace()
        assert await following == instance.workspace_id
        await engine.cut()
        with pytest.raises(RuntimeAway):
            _ = [event async for event in events]
        with pytest.raises(RuntimeAway):
            await runtime.instances.list()
        await engine.open()
        assert [each.id for each in await runtime.instances.list()] == [instance.id]
        await runtime.close()


async def test_labels_say_all_that_a_replica_without_database_needs(house: House) -> None:
    home = house.home()
    await house.runtime.volumes.create(home)
    instance_id = await house.runtime.instances.start(house.spec(home))
    (instance,) = await house.runtime.instances.list()
    seen = await house.inspect(instance)
    assert instance_id == instance.id
    assert instance.endpoint is not None
    expected = {
        labels.INSTALLATION: house.installation,
        labels.WORKSPACE: str(home.workspace_id),
        labels.INCARNATION: home.name,
        labels.OPERATION: str(home.op_id),
        labels.EPOCH: "3",
        labels.VOLUME: home.name,
        labels.ADDRESS: instance.endpoint.address,
        labels.PORT: "8080",
        labels.HEALTH_PATH: "/starts",
    }
    assert expected.items() <= seen["Config"]["Labels"].items()
    assert expected[labels.ADDRESS] == seen["NetworkSettings"]["Networks"][f"codehub-{house.installation}"]["IPAddress"]


async def test_an_address_that_somebody_took_by_hand_is_passed_over(house: House) -> None:
    await house.workspace()
    network = house.runtime._network
    taken = await network.take_address()
    configuration: dict[str, Any] = {
        "Image": house.image,
        "Labels": {labels.INSTALLATION: house.installation},
        "HostConfig": {"NetworkMode": network.name},
        "NetworkingConfig": {"EndpointsConfig": {network.name: {"IPAMConfig": {"IPv4Address": taken}}}},
    }
    async with aiodocker.Docker(url=HOST) as client:
        by_hand = await client.containers.create(configuration, name=f"by-hand-{uuid.uuid4().hex[:12]}")
        await by_hand.start()
        addresses = network._addresses
        assert addresses is not None
        addresses._hand -= 1
        addresses._given.clear()
        workspace = await house.workspace()
        assert workspace.endpoint is not None
        assert workspace.endpoint.address != taken
        await by_hand.delete(force=True)


async def test_a_container_that_is_not_an_instance_is_not_listed(house: House) -> None:
    workspace = await house.workspace()
    marked = {labels.INSTALLATION: house.installation, labels.WORKSPACE: str(workspace.workspace_id)}
    async with aiodocker.Docker(url=HOST) as client:
        other = await client.containers.create({"Image": house.image, "Labels": marked}, name=f"job-{uuid.uuid4().hex}")
        assert [each.id for each in await house.runtime.instances.list()] == [workspace.id]
        await other.delete()


async def test_the_identity_changes_with_the_homes_and_not_with_the_engine(house: House) -> None:
    before = await house.runtime.engine()
    await clear(house.installation)
    assert await house.runtime.engine() != before


@root_only
async def test_findings_are_few_where_codehub_runs_as_root(house: House) -> None:
    await house.workspace()
    assert await house.runtime.findings() == [
        "One workspace can fill the disk of all, because no folder for sized homes is set."
    ]


@pytest.mark.parametrize(
    ("status", "said", "expected"),
    [
        (404, "pull access denied for x, repository does not exist or may require 'docker login'", ImageUnavailable),
        (404, "manifest for x:1 not found: manifest unknown: manifest unknown", ImageUnavailable),
        (500, "manifest unknown", ImageUnavailable),
        (500, "unauthorized: authentication required", ImageUnavailable),
        (0, "no matching manifest for linux/arm64/v8 in the manifest list entries", ImageUnavailable),
        (400, "invalid reference format", ImageUnavailable),
        (500, 'Get "https://r/v2/": dial tcp: lookup r on 10.0.0.2:53: no such host', RegistryAway),
        (500, 'Get "https://r/v2/": dial tcp 10.0.0.1:443: connect: connection refused', RegistryAway),
        (500, 'Get "https://r/v2/": net/http: request canceled while waiting for connection', RegistryAway),
        (500, "toomanyrequests: You have reached your pull rate limit", RegistryAway),
        (0, "unexpected EOF", RegistryAway),
        (0, "write /var/lib/docker/tmp/GetImageBlob: no space left on device", RuntimeFault),
        (900, "Cannot connect to Docker Engine", RuntimeAway),
        (503, "the daemon is shutting down", RuntimeAway),
    ],
)
def test_a_failed_pull_says_whose_fault_it_is(status: int, said: str, expected: type[RuntimeFault]) -> None:
    assert type(images.fault_of_pull("x:1", DockerError(status, said))) is expected


@pytest.mark.parametrize("status", [900, 502, 503, 504])
def test_an_engine_without_an_answer_is_away(status: int) -> None:
    assert type(fault_of(DockerError(status, "no answer"))) is RuntimeAway


@pytest.mark.parametrize("said", ["get ws-1: database not open", "grpc: the client connection: transport is closing"])
def test_an_engine_that_is_on_its_way_down_is_away(said: str) -> None:
    assert type(fault_of(DockerError(500, said))) is RuntimeAway


def test_an_ending_without_its_time_is_the_same_at_every_look() -> None:
    assert labels.ending("Exited (137) 3 seconds ago") == labels.ending("Exited (137) 2 hours ago")
