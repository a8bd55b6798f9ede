"""Installations whose workspaces are real: containers on the engine, or sandboxes where there is none."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from uuid import UUID

import aiodocker
from sqlalchemy import text

from codehub.model.conditions import Status
from codehub.model.states import Phase
from codehub.model.workspace import Workspace
from codehub.runtimes.docker.runtime import DockerRuntime
from codehub.runtimes.protocols import Instance, Runtime
from codehub.store.identity import installation_id
from tests.coordinators.house import House, until
from tests.databases import create_database, drop_database, execute
from tests.runtimes.docker.tidy import clear
from tests.runtimes.docker.tool_image import HOST, PORT

HEALTH_PATH = "/starts"
PATIENCE_SECONDS = 90
"""For containers, processes and IDEs on a machine that does much else."""
SMALL = {"memory_bytes": 64 * 1024**2, "cpus": 0.5, "pids": 32}
OFFER = text("""
    UPDATE templates SET image_ref = :image, port = :port, health_path = :path,
        environment = CAST(:environment AS jsonb), resources = CAST(:limits AS jsonb)
    WHERE id = :id
""")


@dataclass
class RealHouse(House):
    open_runtime: Callable[[Callable[[], None]], Runtime] = field(init=False)
    eyes: Runtime = field(init=False)
    """A runtime that only looks."""

    def runtime(self, fence: Callable[[], None]) -> Runtime:
        return self.open_runtime(fence)

    async def furnish(self, image: str, port: int = PORT, **environment: str) -> None:
        """What workspaces of this house run from now on."""
        values = {"image": image, "port": port, "path": HEALTH_PATH, "environment": json.dumps(environment)}
        async with self.pool.begin() as connection:
            await connection.execute(OFFER, {**values, "limits": json.dumps(SMALL), "id": self.template})

    async def until_offered(self) -> None:
        """The template that its workspaces are made of is ready."""
        ready = text("SELECT true FROM templates WHERE id = :id AND status = 'ready'")

        async def is_ready() -> bool | None:
            async with self.pool.connect() as connection:
                return bool(await connection.scalar(ready, {"id": self.template})) or None

        await until(is_ready, PATIENCE_SECONDS)

    async def instance(self, workspace_id: UUID) -> Instance:
        """The one container that it has."""
        (found,) = await self.eyes.instances.list(workspace_id)
        return found

    async def until_another(self, workspace_id: UUID, before: Instance) -> Instance:
        """It runs again, in another container than before."""

        async def another() -> Instance | None:
            row, found = await self.row(workspace_id), await self.eyes.instances.list(workspace_id)
            seen = row.conditions.container
            ready = seen.subject if seen is not None and seen.status is Status.TRUE else None
            alone = len(found) == 1 and row.phase is Phase.RUNNING and found[0].id == ready
            return found[0] if alone and ready != before.id else None

        return await until(another, PATIENCE_SECONDS)

    async def until_phase(self, workspace_id: UUID, phase: Phase, seconds: float = PATIENCE_SECONDS) -> Workspace:
        return await super().until_phase(workspace_id, phase, seconds)

    async def until_error(self, workspace_id: UUID) -> Workspace:
        return await self.until_phase(workspace_id, Phase.ERROR)

    async def until_answered(self, workspace_id: UUID) -> Workspace:
        """Its owner's request was heard, and it is in ERROR nevertheless."""

        async def answered() -> Workspace | None:
            row = await self.until_error(workspace_id)
            return row if row.request is None and row.error_reason is not None else None

        return await until(answered, PATIENCE_SECONDS)

    async def is_gone(self, workspace_id: UUID) -> bool:
        """Nothing of it is left where workspaces run."""
        return not await self.eyes.instances.list(workspace_id) and not await self.eyes.volumes.list(workspace_id)


@dataclass
class DockerHouse(RealHouse):
    installation: str = ""
    docker: aiodocker.Docker = field(init=False)

    async def inside(self, workspace_id: UUID, command: str) -> str:
        """What a shell command prints that runs in the workspace."""
        container = self.docker.containers.container((await self.instance(workspace_id)).id)
        execution = await container.exec(["sh", "-c", command])
        said = b""
        async with asyncio.timeout(60), execution.start(detach=False) as stream:
            while (message := await stream.read_out()) is not None:
                said += message.data
        return said.decode().strip()


async def new_installation(database_url: str) -> str:
    """Its id. Databases of tests are copies of one, and so would be their labels."""
    await execute(database_url, "UPDATE installation SET id = gen_random_uuid()")
    return await installation_id(database_url)


@contextmanager
def database_of_its_own(postgres_url: str, template: str) -> Iterator[str]:
    """For a whole codehub that several tests share; its address."""
    url = asyncio.run(create_database(postgres_url, template))
    asyncio.run(new_installation(url))
    yield url
    asyncio.run(drop_database(postgres_url, url))


@asynccontextmanager
async def docker_house(
    database_url: str, redis_url: str, prefix: str, image: str, host: str = HOST
) -> AsyncIterator[DockerHouse]:
    """Nothing of it is left on the engine afterwards."""
    installation = await new_installation(database_url)
    looking = DockerRuntime(installation, host)
    try:
        async with (
            aiodocker.Docker(url=host) as client,
            DockerHouse.open(database_url, redis_url, prefix) as house,
        ):
            house.installation = installation
            house.docker = client
            house.eyes = looking
            house.open_runtime = lambda fence: DockerRuntime(installation, host, fence)
            await house.furnish(image)
            yield house
    finally:
        await looking.close()
        await clear(installation, host)
