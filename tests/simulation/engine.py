"""The engine and its jobs as the simulation has them: the remembered runtime, with what people wrote in memory, jobs
that take their time there, and a step at each call."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from uuid import UUID

from codehub.job.faults import ExitCode
from codehub.job.marker import MARKER_SUFFIX, Marker
from codehub.job.order import Kind
from codehub.runtimes.errors import RuntimeAway
from codehub.runtimes.memory import MemoryInstances, MemoryVolumes
from codehub.runtimes.memory_disk import JobProcess, MemoryDisk, Trip
from codehub.runtimes.memory_engine import Call, MemoryEngine, World
from codehub.runtimes.memory_jobs import MemoryJobs
from codehub.runtimes.protocols import InstanceState, Job, JobSpec, JobState
from tests.simulation.faults import Fault
from tests.simulation.loop import VirtualLoop
from tests.simulation.object_store import SimulatedStore, pack, totals_of, unpack
from tests.simulation.steps import Steps, Watcher

STAGE_SECONDS = 0.7
HALF = 0
"""What people could count on in half of a home: nothing."""
KILLED = 137
ALIKE = 3
"""How many earlier worlds are remembered, for listings that lie."""

DESTROYS = frozenset({Call.STOP, Call.DELETE_VOLUME})
"""A job is no loss: the next attempt has one of its own."""
CHANGES = DESTROYS | {Call.START, Call.CREATE_VOLUME, Call.RUN_JOB, Call.REMOVE_JOB}
LOOKS = frozenset({Call.LIST_INSTANCES, Call.LIST_VOLUMES, Call.LIST_JOBS})
QUIET = frozenset({Call.ENGINE, Call.USAGE, Call.JOB_STATUS, Call.FOLLOW_JOB, Call.STATS})


class SimulatedJob(JobProcess):
    """The job program as far as others can tell: what it reads, writes and says, and when."""

    def __init__(self, installation: str, spec: JobSpec, disk: "SimulatedDisk") -> None:
        self.installation = installation
        self.spec = spec
        self.exit_code: int | None = None
        self.lines: list[bytes] = []
        self._disk = disk
        self._taken = disk.contents.get(spec.volume, 0)
        self._finds_it_empty = disk.is_empty(spec.volume)
        if spec.order.kind is Kind.RESTORE and self._finds_it_empty:
            disk.write(spec.volume, HALF)
        self._stages = iter(STAGES[spec.order.kind])
        self._next()

    @property
    def seen(self) -> Job:
        spec = self.spec
        state = JobState.RUNNING if self.exit_code is None else JobState.ENDED
        return Job(spec.name, spec.workspace_id, spec.op_id, spec.epoch, spec.volume, state, self.exit_code)

    def end(self, exit_code: int = KILLED) -> None:
        if self.exit_code is None:
            self.exit_code = exit_code

    def _next(self) -> None:
        stage = next(self._stages)
        self._disk.loop.outside(STAGE_SECONDS, self._go_on, stage)

    def _go_on(self, stage: Callable[["SimulatedJob"], ExitCode | None]) -> None:
        if self.exit_code is not None:
            return
        self.exit_code = stage(self)
        self._disk.steps.say(f"     job {self.spec.order.kind}: {stage.__name__.strip('_')} {self.exit_code}")
        if self.exit_code is None:
            self._next()

    def _send(self) -> ExitCode | None:
        there = self._disk.store.whole(self.spec.order.key)
        if there is not None:
            return self._done(there)
        if self._disk.contents.get(self.spec.volume, 0) != self._taken:
            return ExitCode.TRY_AGAIN
        self._disk.store.write(self.spec.order.key, pack(self._taken))
        return None

    def _mark(self) -> ExitCode | None:
        order, store = self.spec.order, self._disk.store
        totals = totals_of(pack(self._taken))
        if order.key + MARKER_SUFFIX not in store.objects:
            marker = Marker(order.workspace_id, "", order.codehub_version, totals)
            store.write(order.key + MARKER_SUFFIX, marker.encode())
        return None if store.whole(order.key) == pack(self._taken) else ExitCode.FAILED

    def _result(self) -> ExitCode:
        return self._done(pack(self._taken))

    def _compare(self) -> ExitCode:
        store, key = self._disk.store, self.spec.order.key
        data = store.whole(key)
        if data is None:
            return ExitCode.CORRUPT if key in store.objects else ExitCode.MISSING
        return self._done(data) if totals_of(data) == self.spec.order.expected else ExitCode.CORRUPT

    def _unpack(self) -> ExitCode:
        if not self._finds_it_empty:
            return ExitCode.FAILED
        data = self._disk.store.whole(self.spec.order.key)
        if data is None:
            return ExitCode.MISSING
        self._disk.write(self.spec.volume, unpack(data))
        return self._done(data)

    def _done(self, data: bytes) -> ExitCode:
        self.lines.append(json.dumps({"result": asdict(totals_of(data))}).encode())
        return ExitCode.DONE


STAGES: dict[Kind, tuple[Callable[[SimulatedJob], ExitCode | None], ...]] = {
    Kind.ARCHIVE: (SimulatedJob._send, SimulatedJob._mark, SimulatedJob._result),
    Kind.VERIFY: (SimulatedJob._compare,),
    Kind.RESTORE: (SimulatedJob._unpack,),
}


class SimulatedDisk(MemoryDisk):
    def __init__(self, loop: VirtualLoop, store: SimulatedStore, steps: Steps) -> None:
        super().__init__()
        self.loop = loop
        self.store = store
        self.steps = steps
        self.contents: dict[str, int] = {}
        """What people wrote into each home: a bit each."""

    def write(self, name: str, content: int) -> None:
        self.contents[name] = content

    def is_empty(self, name: str) -> bool:
        """What a restore asks first, whoever began it and however late."""
        return name not in self.contents

    def used_bytes(self, name: str) -> int:
        return self.contents.get(name, 0).bit_length()

    def remove_home(self, name: str) -> None:
        self.contents.pop(name, None)

    def begin(self, installation: str, spec: JobSpec, trip: Trip | None) -> None:  # noqa: ARG002
        self.jobs[spec.name] = SimulatedJob(installation, spec, self)


class SimulatedEngine(MemoryEngine):
    def __init__(self, steps: Steps, watcher: Watcher, disk: SimulatedDisk, image: str) -> None:
        super().__init__(images={image}, disk=disk)
        self.homes_content = disk.contents
        self._steps = steps
        self._watcher = watcher
        self._past: deque[World] = deque(maxlen=ALIKE)

    @asynccontextmanager
    async def call(self, call: Call, about: str = "") -> AsyncIterator[None]:
        if call in QUIET:
            yield
            return
        name = f"{call} {_short(about)}"
        if call in CHANGES:
            self._watcher.acts(name, destroys=call in DESTROYS)
        fault = await self._steps.take(name, _away, look=call in LOOKS)
        if call in LOOKS:
            with_lie = self._lie(fault)
            yield
            self.stale = None if with_lie else self.stale
            return
        self._past.append(self.world())
        if call is Call.DELETE_VOLUME and about in self.homes and about not in self.held_homes():
            self._watcher.volume_deleted(about)
        yield
        await self._steps.take(f"done: {name}", _away)

    def _lie(self, fault: Fault | None) -> bool:
        """Show an older world, or one from which a workspace is missing."""
        if fault is Fault.LIE and self._past:
            self.stale = self._past[0]
        elif fault is Fault.HIDE:
            now = self.world()
            names = sorted(home.spec.workspace_id for home in now.homes)
            left_out = names[0] if names else None
            self.stale = World(
                tuple(each for each in now.containers if each[1].workspace_id != left_out),
                tuple(each for each in now.homes if each.spec.workspace_id != left_out),
                now.jobs,
            )
        return self.stale is not None

    def running(self, workspace_id: UUID) -> list[str]:
        """The volumes of its containers that run."""
        return [
            each.spec.volume
            for each in self.containers.values()
            if each.spec.workspace_id == workspace_id and each.seen.state is InstanceState.RUNNING
        ]


class SimulatedJobs(MemoryJobs):
    async def follow(self, name: str) -> AsyncGenerator[bytes, None]:
        told = 0
        while True:
            job = self._known(name)
            assert isinstance(job, SimulatedJob)
            for line in job.lines[told:]:
                told += 1
                yield line
            if job.exit_code is not None:
                return
            await asyncio.sleep(STAGE_SECONDS)


class SimulatedRuntime:
    name = "simulated"

    def __init__(self, engine: SimulatedEngine, installation: str, fence: Callable[[], None]) -> None:
        self._engine = engine
        self.instances = MemoryInstances(engine, installation, fence)
        self.volumes = MemoryVolumes(engine, installation, fence)
        self.jobs = SimulatedJobs(engine, installation, fence)

    async def engine(self) -> str:
        return self._engine.identity

    async def close(self) -> None:
        """Nothing is held open."""


def _away() -> None:
    raise RuntimeAway("the engine does not answer")


def _short(about: str) -> str:
    """The end of a name tells incarnations apart."""
    return about[36:] if about.startswith("ws-") else about[-4:]
