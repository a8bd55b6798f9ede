"""Jobs of the remembered runtime: the real program, on the real folders of remembered homes."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from uuid import UUID

from codehub.runtimes.errors import NoJobs, NotFound, RuntimeAway, RuntimeFault
from codehub.runtimes.lines import Lines
from codehub.runtimes.memory_disk import JobProcess
from codehub.runtimes.memory_engine import Call, MemoryEngine
from codehub.runtimes.protocols import Job, JobSpec, JobState

LOOK_SECONDS = 0.02


class MemoryJobs:
    def __init__(self, engine: MemoryEngine, installation: str, fence: Callable[[], None]) -> None:
        self._engine = engine
        self._installation = installation
        self._fence = fence

    async def lack(self) -> str | None:
        return self._engine.lack_of_jobs

    async def list(self, workspace_id: UUID | None = None) -> tuple[Job, ...]:
        async with self._engine.call(Call.LIST_JOBS):
            return tuple(
                job
                for installation, job in self._engine.shown().jobs
                if installation == self._installation
                and workspace_id in (None, job.workspace_id)
                and job.name not in self._engine.hidden
            )

    async def run(self, spec: JobSpec) -> None:
        self._fence()
        async with self._engine.call(Call.RUN_JOB, spec.name):
            if self._engine.lack_of_jobs is not None:
                raise NoJobs(self._engine.lack_of_jobs)
            home = self._engine.homes.get(spec.volume)
            if home is None or home.installation != self._installation:
                raise NotFound(f"there is no volume {spec.volume}")
            there = self._engine.disk.jobs.get(spec.name)
            if there is None:
                self._engine.disk.begin(self._installation, spec, self._engine.take_trip(spec.order.kind))
            elif (there.installation, there.spec.op_id) != (self._installation, spec.op_id):
                raise RuntimeFault(f"the name {spec.name} belongs to another operation")

    async def status(self, name: str) -> Job:
        async with self._engine.call(Call.JOB_STATUS, name):
            return self._known(name).seen

    async def follow(self, name: str) -> AsyncGenerator[bytes, None]:
        async with self._engine.call(Call.FOLLOW_JOB, name):
            job = self._known(name)
        with job.log.open("rb") as log:
            lines = Lines()
            ended = False
            while not ended:
                if self._engine.away:
                    raise RuntimeAway("the engine does not answer")
                ended = job.seen.state is JobState.ENDED  # before reading: nothing is written after
                for line in lines.add(log.read()):
                    yield line
                if not ended:
                    await asyncio.sleep(LOOK_SECONDS)

    async def remove(self, name: str) -> None:
        self._fence()
        async with self._engine.call(Call.REMOVE_JOB, name):
            job = self._engine.disk.jobs.get(name)
            if job and job.installation == self._installation:
                self._engine.disk.remove_job(name)

    def _known(self, name: str) -> JobProcess:
        job = self._engine.disk.jobs.get(name)
        if job is None or job.installation != self._installation:
            raise NotFound(f"there is no job {name}")
        return job
