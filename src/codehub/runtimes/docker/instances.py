"""Workspaces as containers."""

import asyncio
import json
import math
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID

import aiodocker
import aiohttp
from aiodocker.containers import DockerContainer
from aiodocker.exceptions import DockerError

from codehub.runtimes.docker import container, containers, images, labels
from codehub.runtimes.docker.api import ACT_SECONDS, DockerApi, translated
from codehub.runtimes.docker.homes_removed import HomesRemoved
from codehub.runtimes.docker.network import Network
from codehub.runtimes.docker.volumes import DockerVolumes
from codehub.runtimes.errors import InUse, NotFound, RuntimeAway, RuntimeFault
from codehub.runtimes.protocols import Instance, InstanceSpec, PullProgress, Stats

PROBE_SECONDS = 5.0
"""An IDE on a busy machine may take seconds, and whoever works in it would be cut off."""
ADDRESS_TRIES = 4
ADDRESS_TAKEN = "Address already in use"


class DockerInstances:
    def __init__(
        self,
        api: DockerApi,
        installation: str,
        network: Network,
        volumes: DockerVolumes,
        inside_folder: Path | None,
    ) -> None:
        self._api = api
        self._installation = installation
        self._network = network
        self._volumes = volumes
        self._inside_folder = inside_folder
        self._probes = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=PROBE_SECONDS),
            cookie_jar=aiohttp.DummyCookieJar(),  # one workspace's cookie must never be sent to another
            connector=aiohttp.TCPConnector(force_close=True, limit=0),
        )

    async def list(self, workspace_id: UUID | None = None) -> tuple[Instance, ...]:
        listed = await self._api.containers(labels.own_instances(self._installation, workspace_id))
        return tuple(labels.instance(each) for each in listed)

    async def watch(self) -> AsyncGenerator[UUID, None]:
        """On a client of its own: the library's stream, once broken, cannot be taken up again on the same one. It is
        asked for what happens from now on, not from when the connection stands."""
        client = aiodocker.Docker(url=self._api.host)
        homes = HomesRemoved(self._volumes)
        try:
            subscriber = client.events.subscribe(filters=json.dumps(labels.TOLD), since=f"{time.time():.6f}")
            await homes.learn()
            while (event := await subscriber.get()) is not None:
                is_home = event["Type"] == "volume"
                whose = await homes.hear(event) if is_home else labels.instance_told_of(event, self._installation)
                if whose is not None:
                    yield whose
        finally:
            with suppress(DockerError, aiohttp.ClientError, OSError):  # why it broke, which is all the same here
                await client.events.stop()
            await client.close()
        raise RuntimeAway("the Docker engine's stream of events broke off")

    async def pull(self, image: str, on_progress: Callable[[PullProgress], None]) -> None:
        await images.pull(self._api, image, on_progress)

    async def start(self, spec: InstanceSpec) -> str:
        await self._volumes.ready(spec.volume)
        for _ in range(ADDRESS_TRIES):
            made = await self._create(spec)
            await containers.hold_home(self._api, self._volumes, made.id, spec.volume)
            if await self._run(made):
                return made.id
            await containers.remove(
                self._api, made.id
            )  # an address is given for life: only a new container can have another
        raise RuntimeFault(f"no free address was found for {spec.name}")

    async def _create(self, spec: InstanceSpec) -> DockerContainer:
        """A name is taken from the moment that somebody else begins to make or to remove its container; what holds it
        then cannot be looked at yet, or any more, and is waited for."""
        address = await self._network.take_address()
        for _ in range(containers.NAME_TRIES):
            try:
                return await self._make(spec, address)
            except InUse:
                with suppress(NotFound):
                    return await self._same_incarnation(spec)
            await asyncio.sleep(containers.NAME_PAUSE_SECONDS)
        raise RuntimeFault(f"the name {spec.name} is taken by something that cannot be seen")

    async def _make(self, spec: InstanceSpec, address: str) -> DockerContainer:
        try:
            made = await self._made(spec, address)
        except NotFound:
            await self.pull(spec.image, lambda _: None)
            made = await self._made(spec, address)
        self._network.hold(address)
        return made

    async def _made(self, spec: InstanceSpec, address: str) -> DockerContainer:
        configuration = container.configuration(
            spec, self._installation, self._network.name, address, self._inside_folder
        )
        if spec.begin is not None and self._inside_folder is not None:
            image = (await self._api.read(f"images/{spec.image}/json"))["Config"]
            configuration |= container.begun_by(spec.begin, image)
        async with translated():
            return await self._api.client.containers.create(configuration, name=spec.name)

    async def _run(self, made: DockerContainer) -> bool:
        """False where its address turns out to be somebody else's."""
        try:
            async with translated():
                await made.start()
        except NotFound:  # it, or its network
            self._network.forget()
            raise
        except RuntimeFault as fault:
            if ADDRESS_TAKEN in str(fault):
                return False
            raise
        return True

    async def _same_incarnation(self, spec: InstanceSpec) -> DockerContainer:
        async with translated():
            there = await self._api.client.containers.get(spec.name)
        found = there["Config"]["Labels"]
        expected = labels.of_spec(self._installation, spec)
        for label in (labels.INSTALLATION, labels.WORKSPACE, labels.OPERATION):
            if found.get(label) != expected[label]:
                raise RuntimeFault(f"the name {spec.name} belongs to another incarnation")
        self._network.hold(found[labels.ADDRESS])
        return there

    async def probe(self, instance: Instance) -> bool:
        if instance.endpoint is None:
            return False
        url = f"http://{instance.endpoint.address}:{instance.endpoint.port}{instance.health_path}"
        try:
            async with self._probes.get(url, allow_redirects=False) as answer:
                return answer.status < 400
        except (aiohttp.ClientError, TimeoutError, OSError):
            return False

    async def stop(self, instance_id: str, grace_seconds: float) -> None:
        with suppress(NotFound):
            found = await self._require(instance_id)
            async with translated():
                await self._api.client.containers.container(instance_id).stop(
                    t=math.ceil(grace_seconds), timeout=aiohttp.ClientTimeout(total=grace_seconds + ACT_SECONDS)
                )
            await containers.remove(self._api, instance_id)
            self._network.release(found["Config"]["Labels"][labels.ADDRESS])

    async def logs(self, instance_id: str, tail: int, *, follow: bool = False) -> AsyncGenerator[bytes, None]:
        """Both streams as they came. A workspace prints what it likes, so nothing is decoded here."""
        await self._require(instance_id)
        params = {"stdout": "1", "stderr": "1", "tail": str(tail), "follow": str(int(follow))}
        async with self._api.stream(f"containers/{instance_id}/logs", params) as content:
            async for piece in containers.printed(content):
                yield piece

    async def stats(self, instance_id: str) -> Stats:
        found = await self._require(instance_id)
        sample = await self._api.read(f"containers/{instance_id}/stats", {"stream": "0", "one-shot": "1"})
        if not sample:  # it has ended since
            raise NotFound(f"there is no instance {instance_id}")
        memory = sample["memory_stats"]
        detail = memory.get("stats", {})
        cached = detail.get("total_inactive_file", detail.get("inactive_file", 0))  # cgroup v1, v2
        return Stats(
            cpu_seconds=sample["cpu_stats"]["cpu_usage"]["total_usage"] / 1e9,
            memory_bytes=max(memory.get("usage", 0) - cached, 0),
            memory_limit_bytes=memory.get("limit"),
            pids=sample["pids_stats"].get("current", 0),
            cpus_limit=found["HostConfig"]["NanoCpus"] / 1e9 or None,
        )

    async def _require(self, instance_id: str) -> Mapping[str, Any]:
        """One of ours, as the engine describes it. What another installation made is not there for us, and is never
        touched."""
        found: Mapping[str, Any] = await self._api.read(f"containers/{instance_id}/json")
        if found["Config"]["Labels"].get(labels.INSTALLATION) != self._installation:
            raise NotFound(f"there is no instance {instance_id}")
        return found

    async def close(self) -> None:
        await self._probes.close()
