"""Where workspaces run, behind small protocols. One contract suite runs against every implementation.

Every method is idempotent and none knows the database. Everything that is made carries this installation's label, and
only what carries it is ever listed or touched. Names are incarnations (`model/workspace.py`): whoever acts late acts on
an old name and cannot hit what a successor made (contract 11)."""

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol
from uuid import UUID

from codehub.job.order import Order
from codehub.model.conditions import Endpoint


@dataclass(frozen=True, slots=True)
class Resources:
    """What an instance may use at most."""

    memory_bytes: int = 2 * 1024**3
    cpus: float = 2.0
    pids: int = 512
    disk_bytes: int | None = None
    """The size of the home; None where the runtime sets no limit."""


@dataclass(frozen=True, slots=True)
class InstanceSpec:
    name: str
    workspace_id: UUID
    op_id: UUID
    epoch: int
    volume: str
    image: str
    """What to run: an image for an engine, a tool's name for the local runtime."""
    port: int
    health_path: str
    environment: Mapping[str, str] = field(default_factory=dict)
    resources: Resources = field(default_factory=Resources)
    begin: str | None = None
    """A program of those that workspaces are shown (`model/inside.py`), which starts the instance's own command."""


@dataclass(frozen=True, slots=True)
class VolumeSpec:
    name: str
    workspace_id: UUID
    op_id: UUID
    epoch: int
    size_bytes: int | None = None


class InstanceState(Enum):
    CREATED = "created"
    RUNNING = "running"
    EXITED = "exited"


@dataclass(frozen=True, slots=True)
class Instance:
    """One container as the runtime lists it. Whether it answers is for `probe` to say."""

    id: str
    name: str
    workspace_id: UUID
    op_id: UUID
    epoch: int
    volume: str
    state: InstanceState
    endpoint: Endpoint | None
    health_path: str
    message: str = ""
    """For one that has ended: its exit code and why, as far as is known."""


@dataclass(frozen=True, slots=True)
class Volume:
    name: str
    workspace_id: UUID


@dataclass(frozen=True, slots=True)
class Stats:
    cpu_seconds: float
    memory_bytes: int
    memory_limit_bytes: int | None
    pids: int
    cpus_limit: float | None = None
    """How many processors it may keep busy; None where nothing limits it."""


@dataclass(frozen=True, slots=True)
class PullProgress:
    done_bytes: int
    total_bytes: int | None


class Instances(Protocol):
    async def list(self, workspace_id: UUID | None = None) -> tuple[Instance, ...]:
        """All of them, or those of one workspace; whole, or an error: never cut short."""

    def watch(self) -> AsyncGenerator[UUID, None]:
        """The workspaces whose instances something happens to, or whose homes are removed, as it happens; from the
        first step of the iteration on nothing is missed. Ends with an error when the stream breaks; what happened
        meanwhile is found by listing."""

    async def pull(self, image: str, on_progress: Callable[[PullProgress], None]) -> None:
        """Have the image at hand. Nothing to do where it is there."""

    async def start(self, spec: InstanceSpec) -> str:
        """Make and start it, and return its id; under a name that is taken by the same incarnation, go on with that
        one. An image that is not at hand is pulled, a home that is not there is `NotFound` and never made. Does not
        wait until it answers."""

    async def probe(self, instance: Instance) -> bool:
        """Whether its health path answers now. Never raises, never takes longer than a second or two."""

    async def stop(self, instance_id: str, grace_seconds: float) -> None:
        """Ask it to end, kill it after the grace, and remove it. Gone already is fine."""

    def logs(self, instance_id: str, tail: int, *, follow: bool = False) -> AsyncGenerator[bytes, None]:
        """The last lines that it printed; with `follow` also what it prints from then on, until it ends."""

    async def stats(self, instance_id: str) -> Stats: ...


class Volumes(Protocol):
    async def list(self, workspace_id: UUID | None = None) -> tuple[Volume, ...]: ...

    async def create(self, spec: VolumeSpec) -> None:
        """Make an empty home. One that is there under this name is left as it is."""

    async def delete(self, name: str) -> None:
        """Remove it for good. Refused while a container holds it; gone already is fine."""

    async def stand_ins(self) -> tuple[Volume, ...]:
        """What an engine made by itself, in the name of a home that is gone, for somebody who came too late: never
        written to, and never listed as a home."""

    async def remove_stand_in(self, name: str) -> None:
        """A home is not touched. Refused while a container holds it; gone already is fine."""

    async def usage(self, name: str) -> int:
        """How many bytes it holds."""


@dataclass(frozen=True, slots=True)
class JobSpec:
    """One run of the job program beside one volume, which it may write to only where it restores."""

    name: str
    workspace_id: UUID
    op_id: UUID
    epoch: int
    volume: str
    order: Order
    """What to do, with paths of this machine: of the archive's own folder, or of the socket that leads to the store.
    The runtime puts in the paths under which the job sees them, and the home's; the order is seen by nobody else."""


class JobState(Enum):
    RUNNING = "running"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Job:
    """A job as the runtime lists it, also after its end, until it is removed."""

    name: str
    workspace_id: UUID
    op_id: UUID
    epoch: int
    volume: str
    state: JobState
    exit_code: int | None = None
    """Once it has ended: what the program said (`job/faults.py`), or 128 and the signal that killed it."""


class Jobs(Protocol):
    """The job program, next to the volumes. It has no network but the way to the store, no other volume and the lowest
    priority, and outlives whoever began it: a new leader finds it by its name."""

    async def lack(self) -> str | None:
        """Why none can run, whoever's it is; None where they can."""

    async def list(self, workspace_id: UUID | None = None) -> tuple[Job, ...]:
        """Running and ended ones; whole, or an error."""

    async def run(self, spec: JobSpec) -> None:
        """Begin it. Under a name that is taken by the same operation it goes on, or has ended, as it was begun: there
        is never a second one. A volume that is not there is `NotFound`, and never made. `Removed` where somebody else
        removes it before it is begun, `NoJobs` where none can run."""

    async def status(self, name: str) -> Job:
        """How it stands; `NotFound` where there is none, or none for long: somebody is removing it."""

    def follow(self, name: str) -> AsyncGenerator[bytes, None]:
        """Every line that it printed, from its first, one at a time and as they come, until it has ended."""

    async def remove(self, name: str) -> None:
        """Kill it if it runs, and forget it. When this returns nothing of it touches the volume or the store any more;
        gone already is fine."""


class Runtime(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def instances(self) -> Instances: ...

    @property
    def volumes(self) -> Volumes: ...

    @property
    def jobs(self) -> Jobs: ...

    async def engine(self) -> str:
        """The identity of what the homes live on. Another identity than before means other homes, not lost ones."""

    async def close(self) -> None: ...
