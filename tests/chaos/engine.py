"""The campaign's own eyes and hands on the engine, past all trouble: homes are written and read there, and watched."""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import aiodocker
from aiodocker.exceptions import DockerError

from codehub.runtimes.docker import labels
from codehub.runtimes.docker.runtime import DockerRuntime
from codehub.runtimes.protocols import Instance, InstanceState, JobState
from tests.faults import trees
from tests.runtimes.docker.tidy import clear
from tests.runtimes.docker.tool_image import HOST, tool_image

WRITE = "cd /home/coder && printf %s {content} | dd of=.{page} conv=fsync && busybox mv .{page} {page}"
READ = "for page in page-*; do [ ! -e $page ] || echo $page $(cat $page); done"
LINE = re.compile(r"(page-\d+) ([0-9a-f]+)")
WRITE_SECONDS = 60


@dataclass
class Engine:
    installation: str
    image: str
    docker: aiodocker.Docker
    eyes: DockerRuntime

    async def running(self, workspace_id: UUID | None = None) -> list[Instance]:
        found = await self.eyes.instances.list(workspace_id)
        return [each for each in found if each.state is InstanceState.RUNNING]

    async def counts(self) -> tuple[Counter[UUID], Counter[UUID]]:
        """Containers and volumes of each workspace."""
        containers, volumes = await self.eyes.instances.list(), await self.eyes.volumes.list()
        return Counter(each.workspace_id for each in containers), Counter(each.workspace_id for each in volumes)

    async def write(self, workspace_id: UUID, page: str, content: str) -> bool:
        """Whether it is on the disk for sure."""
        try:
            async with asyncio.timeout(WRITE_SECONDS):
                (instance,) = await self.running(workspace_id)
                container = self.docker.containers.container(instance.id)
                execution = await container.exec(["sh", "-c", WRITE.format(page=page, content=content)])
                async with execution.start(detach=False) as stream:
                    while await stream.read_out() is not None:
                        pass
                return bool((await execution.inspect())["ExitCode"] == 0)
        except (ValueError, DockerError, OSError, TimeoutError):
            return False  # nobody runs any more, or it ended meanwhile

    async def pages(self, volume: str) -> dict[str, str]:
        return dict(LINE.findall(await trees.run(self.docker, self.image, volume, READ, read_only=True)))

    async def kill_job(self) -> str | None:
        """The name of one that ran, if there was one."""
        running = [each.name for each in await self.eyes.jobs.list() if each.state is JobState.RUNNING]
        return await self._kill(running)

    async def kill_workspace(self, spared: UUID) -> str | None:
        """The id of the container that was started last, whose owner begins to write; where one is not spared."""
        return await self._kill([each.id for each in await self.running() if each.workspace_id != spared])

    async def _kill(self, running: Sequence[str]) -> str | None:
        if not running:
            return None
        try:
            await self.docker.containers.container(running[0]).kill()
        except DockerError:
            return None
        return running[0]

    async def is_there(self, instance_id: str) -> bool:
        return any(each.id == instance_id for each in await self.eyes.instances.list())

    async def doubled(self) -> list[str]:
        """Workspaces that run in more than one container."""
        counted = Counter(each.workspace_id for each in await self.running())
        return [
            f"{workspace_id} ran in {count} containers at once" for workspace_id, count in counted.items() if count > 1
        ]


@dataclass(frozen=True)
class Bystander:
    """What another installation has on the same engine."""

    engine: Engine
    name: str
    started: str

    async def changes(self) -> list[str]:
        """What is not as it was."""
        try:
            found = await self.engine.docker.containers.container(self.name).show()
            await self.engine.docker.volumes.get(self.name)
        except DockerError as error:
            return [f"of another installation: {error.message}"]
        return [] if found["State"]["StartedAt"] == self.started else ["of another installation: it was started again"]


@asynccontextmanager
async def engine(installation: str) -> AsyncIterator[Engine]:
    """Nothing of the installation is left on it afterwards."""
    with tool_image() as image:
        eyes = DockerRuntime(installation, HOST)
        try:
            async with aiodocker.Docker(url=HOST) as docker:
                yield Engine(installation, image, docker, eyes)
        finally:
            await eyes.close()
            await clear(installation)


@asynccontextmanager
async def bystander(engine: Engine) -> AsyncIterator[Bystander]:
    """Labelled as codehub labels what it makes, for an installation and a workspace of which nobody here knows."""
    name = f"codehub-bystander-{uuid4().hex}"
    labelled = {labels.INSTALLATION: uuid4().hex, labels.WORKSPACE: str(uuid4()), labels.INCARNATION: name}
    config: dict[str, Any] = {
        "Image": engine.image,
        "Labels": labelled,
        "HostConfig": {"NetworkMode": "none", "Mounts": [{"Type": "volume", "Source": name, "Target": trees.HOME}]},
    }
    volume = await engine.docker.volumes.create({"Name": name, "Labels": labelled})
    try:
        container = await engine.docker.containers.create(config, name=name)
        try:
            await container.start()
            yield Bystander(engine, name, (await container.show())["State"]["StartedAt"])
        finally:
            await container.delete(force=True)
    finally:
        await volume.delete()
