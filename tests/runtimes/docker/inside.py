"""Workspaces on the real engine, seen from inside."""

import asyncio
import os
import uuid
from dataclasses import dataclass
from typing import Any

import pytest

from codehub.model.workspace import incarnation_name
from codehub.runtimes.docker.runtime import DockerRuntime
from codehub.runtimes.protocols import Instance, InstanceSpec, Resources, VolumeSpec
from tests.runtimes.docker.tool_image import PORT

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

LIMITS = Resources(memory_bytes=64 * 1024**2, cpus=0.5, pids=32)


@dataclass(frozen=True)
class House:
    runtime: DockerRuntime
    image: str
    installation: str

    def home(self, size_bytes: int | None = None) -> VolumeSpec:
        workspace_id, op_id = uuid.uuid4(), uuid.uuid4()
        return VolumeSpec(incarnation_name(workspace_id, op_id, 1), workspace_id, op_id, 3, size_bytes)

    def spec(self, home: VolumeSpec) -> InstanceSpec:
        return InstanceSpec(
            name=home.name,
            workspace_id=home.workspace_id,
            op_id=home.op_id,
            epoch=home.epoch,
            volume=home.name,
            image=self.image,
            port=PORT,
            health_path="/starts",
            resources=LIMITS,
        )

    async def workspace(self, home: VolumeSpec | None = None) -> Instance:
        """Up and answering; a new one, unless a home is given."""
        home = home or self.home()
        await self.runtime.volumes.create(home)
        instance_id = await self.runtime.instances.start(self.spec(home))
        (instance,) = [each for each in await self.runtime.instances.list() if each.id == instance_id]
        async with asyncio.timeout(60):
            while not await self.runtime.instances.probe(instance):
                await asyncio.sleep(0.02)
        return instance

    async def inspect(self, instance: Instance) -> dict[str, Any]:
        return await self.runtime._api.read(f"containers/{instance.id}/json")

    async def run(self, instance: Instance, command: str) -> tuple[int, str]:
        """A shell command inside, as the workspace's user: its exit code, and all that it printed."""
        container = self.runtime._api.client.containers.container(instance.id)
        execution = await container.exec(["sh", "-c", command])
        said = b""
        async with asyncio.timeout(60), execution.start(detach=False) as stream:
            while (message := await stream.read_out()) is not None:
                said += message.data
        return (await execution.inspect())["ExitCode"], said.decode()

    async def says(self, instance: Instance, command: str) -> str:
        """What it prints, where it succeeds."""
        code, said = await self.run(instance, command)
        assert code == 0, said
        return said.strip()

    async def reaches(self, instance: Instance, address: str, port: int) -> bool:
        """Whether it gets an answer over HTTP from there."""
        request = "GET /starts HTTP/1.0\\r\\n\\r\\n"
        _, said = await self.run(instance, f"printf '{request}' | nc -w 1 {address} {port}")
        return said.startswith("HTTP/")
