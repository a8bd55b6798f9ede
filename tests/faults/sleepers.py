"""Real homes that go to sleep and come back, moved by real jobs, while tests strike at whoever takes part in it."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID, uuid4

from codehub.archives.object_store import ObjectStore
from codehub.archives.open import ensure_bucket, open_store
from codehub.model.states import Desired, Phase, Step
from codehub.model.workspace import Workspace
from codehub.runtimes.docker.runtime import DockerRuntime
from codehub.stack.seaweedfs import SeaweedFS
from tests.coordinators.house import until
from tests.coordinators.sessions import office
from tests.faults import trees
from tests.faults.gate import Connect, Gates, Trap, gate, to_engine
from tests.faults.real_house import PATIENCE_SECONDS, DockerHouse
from tests.faults.serving import Replicas, Served, replicas
from tests.folders import short_folder
from tests.runtimes.docker.job_image import job_image

BUCKET = "sleepers"
CONTROLLER = "coordinator:wc"
COLLECTOR = "coordinator:gc"
JOBS_SECONDS = 300
"""Jobs give way to everything: on a busy machine they take long."""


@dataclass
class Sleepers:
    """Homes on an engine that everybody reaches through gates."""

    house: DockerHouse
    image: str
    store: ObjectStore
    gates: Gates = field(default_factory=Gates)

    def lay(
        self,
        workspace_id: UUID,
        step: Step,
        strike: Callable[[], Awaitable[bool]],
        *,
        request: str = ".*",
        passes: int = 0,
        after_effect: bool = False,
    ) -> Trap:
        """Strike at a request that is made while the workspace is in this step."""

        async def is_there() -> bool:
            return (await self.house.row(workspace_id)).op_step is step

        trap = Trap(is_there, strike, request, passes, after_effect)
        self.gates.traps.append(trap)
        return trap

    def lay_in_each(
        self, workspace_id: UUID, steps: Iterable[Step], strike: Callable[[], Awaitable[bool]]
    ) -> dict[Step, Trap]:
        return {step: self.lay(workspace_id, step, strike) for step in steps}

    async def furnished(self, **size: int) -> tuple[UUID, str]:
        """A workspace that stands by, with something of every kind in its home."""
        workspace_id = await self.house.create(Desired.STANDBY)
        row = await self.house.until_phase(workspace_id, Phase.STANDBY)
        assert row.home_volume is not None
        return workspace_id, await trees.furnish(self.house.docker, self.image, row.home_volume, **size)

    async def carried_out(self, workspace_id: UUID, wish: Desired) -> Workspace:
        await self.house.wish(workspace_id, wish)
        return await self.house.until_phase(workspace_id, Phase(wish.value), JOBS_SECONDS)

    async def tree(self, workspace_id: UUID) -> str:
        """Of its home, which is there."""
        row = await self.house.row(workspace_id)
        assert row.home_volume is not None
        return await trees.tree(self.house.docker, self.image, row.home_volume)

    async def volumes(self, workspace_id: UUID) -> list[str]:
        return [each.name for each in await self.house.eyes.volumes.list(workspace_id)]

    async def no_jobs_are_left(self, workspace_id: UUID) -> None:
        """They are removed beside the passes, as soon as what became of them is recorded."""

        async def none() -> bool | None:
            return not await self.house.eyes.jobs.list(workspace_id) or None

        await until(none, JOBS_SECONDS)


@dataclass
class ServedSleepers(Sleepers):
    """Moved by processes, each with a gate of its own."""

    codehub: Replicas = field(kw_only=True)
    engine: Connect = field(default_factory=to_engine)
    _opened: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def staff(self, count: int = 2) -> None:
        """So many processes are alive."""
        while len(self.codehub.alive()) < count:
            path = self.codehub.folder / f"engine-{len(self.codehub.served)}.sock"
            await self._opened.enter_async_context(gate(self.gates, self.engine, path))
            self.codehub.start(RUNTIME_DOCKER_HOST=f"unix://{path}")

    async def leader(self, lock_name: str = CONTROLLER) -> Served:
        """The living process that leads."""

        async def leads() -> Served | None:
            holder, _, _ = await office(self.house.database_url, lock_name)
            return next((each for each in self.codehub.alive() if each.name == holder), None)

        return await until(leads, PATIENCE_SECONDS)

    async def kill_leader(self, lock_name: str = CONTROLLER) -> bool:
        """Another process comes for it. What it has just asked for, nobody asks for any more."""
        (await self.leader(lock_name)).kill()
        await self.staff()
        return False

    async def close(self) -> None:
        for each in self.codehub.alive():
            each.kill()
        await self._opened.aclose()


async def in_bucket(s3_server: SeaweedFS, port: int | None = None) -> dict[str, str]:
    """How processes reach a bucket on that server of which nobody else knows; through that port, if one is given."""
    await ensure_bucket(f"s3://{BUCKET}", **s3_server.access)
    access = s3_server.access | ({"s3_endpoint": f"http://127.0.0.1:{port}"} if port is not None else {})
    return {f"ARCHIVE_{name.upper()}": value for name, value in access.items()} | {
        "ARCHIVE_URL": f"s3://{BUCKET}/{uuid4().hex}"
    }


def _opened_as(environment: dict[str, str], data: Path) -> ObjectStore:
    access = {
        name.removeprefix("ARCHIVE_").lower(): value
        for name, value in environment.items()
        if name.startswith("ARCHIVE_S3_")
    }
    return open_store(environment.get("ARCHIVE_URL", (data / "archives").as_uri()), **access)


@asynccontextmanager
async def served_sleepers(
    house: DockerHouse, image: str, redis_url: str, **environment: str
) -> AsyncIterator[ServedSleepers]:
    """Nobody works in it until it is staffed. Without `ARCHIVE_URL` homes sleep in a folder."""
    await job_image()
    with short_folder() as folder, replicas(house, redis_url, folder, **environment) as codehub:
        store = _opened_as(environment, folder / "data")
        made = ServedSleepers(house, image, store, codehub=codehub)
        try:
            yield made
        finally:
            await made.close()


@asynccontextmanager
async def sleepers(house: DockerHouse, image: str) -> AsyncIterator[Sleepers]:
    """Moved by the replicas that the house has in this process. They sleep where its store is."""
    jobs, installation = await job_image(), house.installation
    made = Sleepers(house, image, house.store)
    with short_folder() as folder:
        path = folder / "engine.sock"
        async with gate(made.gates, to_engine(), path):
            house.open_runtime = lambda fence: DockerRuntime(installation, f"unix://{path}", fence, job_image=jobs)
            try:
                yield made
            finally:
                for each in house.replicas:
                    await each.stop()
                house.replicas.clear()
