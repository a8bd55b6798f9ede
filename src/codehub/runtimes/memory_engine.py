"""The world behind the in-memory runtime: instances, homes and images, and switches for what can go wrong with them.

Nothing here reads a clock or rolls a die, and all waiting goes through the `sleep` that it is given: the same calls in
the same order give the same history, in virtual time as well as in real time. Only jobs are real: they are processes
on real folders."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from signal import SIGCONT, SIGKILL
from uuid import UUID

from codehub.job.order import Kind
from codehub.runtimes.errors import RuntimeAway
from codehub.runtimes.memory_disk import JobProcess, MemoryDisk, Trip
from codehub.runtimes.protocols import Instance, InstanceSpec, InstanceState, Job, VolumeSpec


class Call(StrEnum):
    """The calls that a fault can be laid on."""

    LIST_INSTANCES = "instances.list"
    PULL = "instances.pull"
    START = "instances.start"
    STOP = "instances.stop"
    STATS = "instances.stats"
    LIST_VOLUMES = "volumes.list"
    CREATE_VOLUME = "volumes.create"
    DELETE_VOLUME = "volumes.delete"
    USAGE = "volumes.usage"
    LIST_JOBS = "jobs.list"
    RUN_JOB = "jobs.run"
    JOB_STATUS = "jobs.status"
    FOLLOW_JOB = "jobs.follow"
    REMOVE_JOB = "jobs.remove"
    ENGINE = "engine"


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong with a call. `Fault(wait_seconds=math.inf)` never returns, an `error` with `after_effect` fails
    though the work is done, both with `after_effect` lose the answer."""

    error: Exception | None = None
    wait_seconds: float = 0.0
    after_effect: bool = False
    times: int | None = None
    """How many calls it hits; None: all, until the switch is turned off."""
    only: str | None = None
    """The one name, id or image that it hits; None: any."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How an IDE behaves, counted in looks at it, because nobody else would notice a time in between."""

    silent_probes: int = 0
    """How many probes find it still starting."""
    answers: bool = True
    dies_after_probes: int | None = None
    """It ends when it has been probed this often; 0: as soon as it is started."""
    exit_code: int = 1
    logs: tuple[bytes, ...] = (b"listening\n",)


@dataclass(slots=True)
class Container:
    """One instance as the engine keeps it, with the label of the installation that owns it."""

    installation: str
    spec: InstanceSpec
    seen: Instance
    probes: int = 0


@dataclass(frozen=True, slots=True)
class Home:
    installation: str
    spec: VolumeSpec


@dataclass(frozen=True, slots=True)
class World:
    """Everything that a listing can show. Replaced, never changed, so that a stale one can be kept and shown."""

    containers: tuple[tuple[str, Instance], ...]
    homes: tuple[Home, ...]
    jobs: tuple[tuple[str, Job], ...]


@dataclass
class MemoryEngine:
    """One engine, shared by every runtime that is opened on it: replicas, and other installations."""

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    images: set[str] = field(default_factory=set)
    """What is at hand without a pull."""
    registry: set[str] = field(default_factory=set)
    """What can be pulled."""
    registries_away: set[str] = field(default_factory=set)
    """Hosts of registries that do not answer."""
    behaviours: dict[UUID | str, Behaviour] = field(default_factory=dict)
    """By workspace, else by image; else it answers at once and lives."""
    hidden: set[str] = field(default_factory=set)
    """Names that listings leave out although they are there."""
    faults: dict[Call, list[Fault]] = field(default_factory=dict)
    identity: str = "engine-1"
    containers: dict[str, Container] = field(default_factory=dict)
    homes: dict[str, Home] = field(default_factory=dict)
    disk: MemoryDisk = field(default_factory=MemoryDisk)
    trips: list[Trip] = field(default_factory=list)
    """Where jobs to come are held or killed; each for the first one that it fits."""
    lack_of_jobs: str | None = None
    """Why none can run."""
    watchers: dict[asyncio.Queue[UUID | None], str] = field(default_factory=dict)
    made: int = 0
    away: bool = False
    stale: World | None = None

    # Switches.

    def lay(self, call: Call, fault: Fault) -> None:
        """Let this go wrong with the calls to come; of several that fit, the one laid first."""
        self.faults.setdefault(call, []).append(fault)

    def clear_faults(self) -> None:
        self.faults.clear()

    def go_away(self) -> None:
        """Nobody answers any more; what runs, runs on."""
        self.away = True
        self.break_streams()

    def come_back(self) -> None:
        self.away = False

    def break_streams(self) -> None:
        for queue in self.watchers:
            queue.put_nowait(None)

    def freeze_listings(self) -> None:
        """Listings show the world of this moment from now on, whatever happens."""
        self.stale = self.world()

    def thaw_listings(self) -> None:
        self.stale = None

    def replace_engine(self) -> None:
        """Another engine answers at the same address, and it is empty."""
        self.made += 1
        self.identity = f"engine-{self.made + 1}"
        self.containers.clear()
        self.homes.clear()
        self.disk.clear()
        self.break_streams()

    def kill(self, workspace_id: UUID, exit_code: int = 137) -> None:
        """Its instances end, by somebody else's hand."""
        for container in self._of(workspace_id):
            self.end(container, exit_code)

    def lose_instances(self, workspace_id: UUID) -> None:
        """Somebody removes them from outside."""
        for container in self._of(workspace_id):
            del self.containers[container.seen.id]
            self.announce(container.installation, workspace_id)

    def lose_volume(self, name: str) -> None:
        """Somebody removes it from outside, in use or not."""
        home = self.homes.pop(name)
        self.disk.remove_home(name)
        self.announce(home.installation, home.spec.workspace_id)

    def home(self, name: str) -> Path:
        """The folder of a home, for whoever wants to put files there, as an IDE would."""
        return self.disk.home(self.homes[name].spec.name)

    def release_jobs(self, workspace_id: UUID) -> None:
        """Those that a trip holds go on."""
        for job in self._jobs_of(workspace_id):
            job.send(SIGCONT)

    def kill_jobs(self, workspace_id: UUID) -> None:
        """They end, by somebody else's hand."""
        for job in self._jobs_of(workspace_id):
            job.send(SIGKILL)

    def lose_jobs(self, workspace_id: UUID) -> None:
        """Somebody removes them from outside."""
        for job in self._jobs_of(workspace_id):
            self.disk.remove_job(job.spec.name)

    # What the runtime stands on.

    @asynccontextmanager
    async def call(self, call: Call, about: str = "") -> AsyncIterator[None]:
        """Around the effect of a call, which is to be one step without an await: let go wrong what should."""
        if self.away:
            raise RuntimeAway("the engine does not answer")
        fault = self._take(call, about)
        if fault and not fault.after_effect:
            await self._suffer(fault)
        yield
        if fault and fault.after_effect:
            await self._suffer(fault)

    def world(self) -> World:
        return World(
            tuple((each.installation, each.seen) for each in self.containers.values()),
            tuple(self.homes.values()),
            tuple((each.installation, each.seen) for each in self.disk.jobs.values()),
        )

    def shown(self) -> World:
        return self.stale or self.world()

    def held_homes(self) -> set[str]:
        """Those that an instance or a job holds, also one that has ended."""
        instances = {each.spec.volume for each in self.containers.values()}
        return instances | {each.spec.volume for each in self.disk.jobs.values()}

    def behaviour(self, container: Container) -> Behaviour:
        spec = container.spec
        return self.behaviours.get(spec.workspace_id) or self.behaviours.get(spec.image) or Behaviour()

    def new_number(self) -> int:
        self.made += 1
        return self.made

    def change(self, container: Container, seen: Instance) -> None:
        container.seen = seen
        self.announce(container.installation, seen.workspace_id)

    def end(self, container: Container, exit_code: int) -> None:
        if container.seen.state is InstanceState.RUNNING:
            ended = replace(
                container.seen, state=InstanceState.EXITED, endpoint=None, message=f"exited with code {exit_code}"
            )
            self.change(container, ended)

    def announce(self, installation: str, workspace_id: UUID) -> None:
        for queue, of in self.watchers.items():
            if of == installation:
                queue.put_nowait(workspace_id)

    def take_trip(self, kind: Kind) -> Trip | None:
        trip = next((each for each in self.trips if each.kind is kind), None)
        if trip:
            self.trips.remove(trip)
        return trip

    def _jobs_of(self, workspace_id: UUID) -> list[JobProcess]:
        return [each for each in self.disk.jobs.values() if each.spec.workspace_id == workspace_id]

    def _of(self, workspace_id: UUID) -> list[Container]:
        return [each for each in self.containers.values() if each.spec.workspace_id == workspace_id]

    def _take(self, call: Call, about: str) -> Fault | None:
        laid = self.faults.get(call, [])
        for place, fault in enumerate(laid):
            if fault.only in (None, about) and fault.times != 0:
                if fault.times is not None:
                    laid[place] = replace(fault, times=fault.times - 1)
                return fault
        return None

    async def _suffer(self, fault: Fault) -> None:
        if fault.wait_seconds == float("inf"):
            await asyncio.get_running_loop().create_future()
        elif fault.wait_seconds:
            await self.sleep(fault.wait_seconds)
        if fault.error:
            raise fault.error
