"""One process of codehub's in the simulation: the real coordinators, and twins of everything around them."""

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from random import Random
from uuid import UUID

from codehub.bus.hints import Listener
from codehub.coordinators.archive_acts import ArchiveTerms
from codehub.coordinators.archive_look import StoreLook
from codehub.coordinators.archiving import Archiving
from codehub.coordinators.backup_watch import BackupWatch
from codehub.coordinators.leadership import Fence, Leadership
from codehub.coordinators.observer import Observer
from codehub.coordinators.progress import Progress
from codehub.coordinators.sampler import Sampler
from codehub.coordinators.slots import Slots
from codehub.coordinators.supervisor import Coordinator, Report, Supervisor, Terms
from codehub.coordinators.ticker import Rhythm, Ticker
from codehub.coordinators.workspace_controller import WorkspaceController
from codehub.decide.retry import RetryPolicy
from codehub.job.order import Proof
from codehub.model.mark import Mark
from codehub.model.states import Operation
from codehub.model.workspace import Workspace
from codehub.store.protocols import Seat
from tests.simulation.engine import SimulatedEngine, SimulatedRuntime
from tests.simulation.faults import Fault
from tests.simulation.loop import PROCESS, Process, VirtualLoop
from tests.simulation.memory_controller import MemoryController
from tests.simulation.memory_database import MemoryDatabase
from tests.simulation.memory_seat import MemorySeat, MemoryServer
from tests.simulation.memory_store import MemoryObserver
from tests.simulation.object_store import SimulatedStore
from tests.simulation.steps import SLOW_COMMIT_SECONDS, Steps, Watcher

INSTALLATION = "simulated"
LEASE_SECONDS = 2.0
LATE_SECONDS = 1.5
RHYTHM = Rhythm(idle_seconds=15.0, active_seconds=1.0, active_for_seconds=30.0)
POLICY = RetryPolicy(
    timeouts=dict.fromkeys(Operation, timedelta(seconds=90)), max_retries=6, first_backoff=timedelta(seconds=1)
)
TERMS = Terms(LEASE_SECONDS, retry_seconds=1.0, initial_delay_max_seconds=0.0)


class WatchedDatabase(MemoryDatabase):
    """Knows who writes."""

    def __init__(self, clock: Callable[[], datetime], watcher: Watcher) -> None:
        super().__init__(clock)
        self._watcher = watcher
        self.writer: str | None = None
        """The coordinator whose transaction it is; None: the API."""
        self.seat: MemorySeat | None = None
        """Over whose connection."""
        self.changes = 0
        self.counter = 0
        self.marks: dict[UUID, int] = {}

    def write(self, *rows: Workspace) -> None:
        before = [self.rows.get(row.id) for row in rows]
        super().write(*rows)
        for old, row in zip(before, rows, strict=True):
            self.changes += 1
            self.counter += old is None or _protects(old) != _protects(row)
            self._watcher.row_written(old, row, self.writer)


def _protects(row: Workspace) -> tuple[object, ...]:
    """What a database that was set back must not have forgotten."""
    return row.op_volume, row.archive_key


class SimulatedSeat(MemorySeat):
    """After each change that is committed, before anybody is told of it, there is a step."""

    def __init__(self, server: MemoryServer, lock_name: str, replica: "Replica") -> None:
        super().__init__(server, lock_name, replica.process.name, LEASE_SECONDS)
        self._steps = replica.place.steps
        self._database = replica.place.database
        self._before = 0
        replica.seats.append(self)

    def _begun(self) -> MemoryDatabase:
        database = self._database
        self._before, database.writer, database.seat = database.changes, self._lock_name, self
        return database

    def _committed(self) -> Awaitable[object]:
        self._database.writer = None
        if self._database.changes == self._before:
            return super()._committed()
        return self._steps.take(f"{self._lock_name} committed", self.drop, slow=SLOW_COMMIT_SECONDS)


@dataclass
class Bus:
    """Hints: lost, late and doubled as it is told to be."""

    loop: VirtualLoop
    listeners: dict[Listener, list[asyncio.Queue[UUID | None]]] = field(
        default_factory=lambda: {each: [] for each in Listener}
    )
    disturbed: list[Fault] = field(default_factory=list)
    """What becomes of the next ones."""

    async def wake(self, listener: Listener, *workspace_ids: UUID) -> None:
        self.send(listener, *workspace_ids)

    def send(self, listener: Listener, *workspace_ids: UUID) -> None:
        fault = self.disturbed.pop() if self.disturbed else None
        for each in workspace_ids or (None,):
            for queue in self.listeners[listener]:
                if fault is None:
                    queue.put_nowait(each)
                elif fault is Fault.ECHO:
                    self.loop.outside(LATE_SECONDS, queue.put_nowait, each)
                    self.loop.outside(LATE_SECONDS, queue.put_nowait, each)

    async def listen(self, listener: Listener, heard: Callable[[UUID | None], None]) -> None:
        queue: asyncio.Queue[UUID | None] = asyncio.Queue()
        self.listeners[listener].append(queue)
        try:
            while True:
                heard(await queue.get())
        finally:
            self.listeners[listener].remove(queue)


@dataclass
class SimulatedMarks:
    database: WatchedDatabase
    new_id: Callable[[], UUID]

    async def look(self, mark: Mark) -> tuple[bool, int]:
        await asyncio.sleep(0)
        return mark.id in self.database.marks, self.database.counter

    async def record(self) -> Mark:
        await asyncio.sleep(0)
        mark = Mark(self.new_id(), self.database.counter)
        self.database.marks[mark.id] = mark.value
        return mark

    async def forget_before(self, mark: Mark) -> None:
        """Nobody waits for a day here."""


class Unsampled(Sampler):
    """What workspaces use is only shown, and decides nothing."""

    async def run(self, running: Callable[[], object]) -> None:  # noqa: ARG002
        await asyncio.get_running_loop().create_future()


@dataclass
class Place:
    """What the processes share."""

    loop: VirtualLoop
    steps: Steps
    server: MemoryServer
    database: WatchedDatabase
    engine: SimulatedEngine
    store: SimulatedStore
    bus: Bus
    chance: Random
    """For what the product leaves to chance."""
    more: tuple[Callable[["Replica"], Coordinator], ...] = ()
    """Coordinators besides Observer and controller."""

    def new_id(self) -> UUID:
        return UUID(int=self.chance.getrandbits(128), version=4)


@dataclass
class Watched:
    """A coordinator whose terms in office are remembered."""

    inner: Coordinator
    replica: "Replica"

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def lock_name(self) -> str:
        return self.inner.lock_name

    async def run(self, leadership: Leadership, report: Report) -> None:
        self.replica.leaderships[self.lock_name] = leadership
        await self.inner.run(leadership, report)


@dataclass(eq=False)
class Replica:
    place: Place
    process: Process
    seats: list[SimulatedSeat] = field(default_factory=list)
    leaderships: dict[str, Leadership] = field(default_factory=dict)
    fence: Fence = field(default_factory=Fence)
    task: asyncio.Task[None] | None = None

    def start(self) -> None:
        context = copy_context()
        context.run(PROCESS.set, self.process)
        self.task = self.place.loop.create_task(self._run(), context=context)

    async def _run(self) -> None:
        place = self.place
        coordinators: list[Coordinator] = [self._observer(), self._controller(), *(each(self) for each in place.more)]
        supervisor = Supervisor(
            coordinators=[Watched(each, self) for each in coordinators],
            take_seat=self._seat,
            others_compete=_nobody,
            terms=TERMS,
            elapsed=place.loop.time,
            spread=place.chance.random,
        )
        await supervisor.run()

    async def _seat(self, lock_name: str) -> Seat:
        return SimulatedSeat(self.place.server, lock_name, self)

    def runtime(self) -> SimulatedRuntime:
        return SimulatedRuntime(self.place.engine, INSTALLATION, self.fence.check)

    def backups(self) -> BackupWatch:
        return BackupWatch(SimulatedMarks(self.place.database, self.place.new_id), self.place.store, INSTALLATION)

    def ticker(self) -> Ticker:
        return Ticker(RHYTHM, self.place.loop.time, self.place.chance.random)

    def _observer(self) -> Observer:
        place, runtime = self.place, self.runtime()
        return Observer(
            runtime=runtime,
            archives=StoreLook(place.store),
            open_store=_observer_store,
            wake_controller=partial(place.bus.wake, Listener.CONTROLLER),
            hints=partial(place.bus.listen, Listener.OBSERVER),
            ticker=self.ticker(),
            elapsed=place.loop.time,
            sampler=Unsampled(runtime, _Nothing(), 60.0, place.loop.time, place.database.clock),
        )

    def _controller(self) -> WorkspaceController:
        place = self.place
        terms = ArchiveTerms(level=1, proof=Proof.CHECKSUM, lent_seconds=600)
        return WorkspaceController(
            runtime=self.runtime(),
            archiving=Archiving(place.store, terms, self.backups(), None),
            fence=self.fence,
            open_store=_controller_store,
            wake_observer=partial(place.bus.wake, Listener.OBSERVER),
            hints=partial(place.bus.listen, Listener.CONTROLLER),
            progress=Progress(_to_nobody, place.loop.time),
            ticker=self.ticker(),
            policy=POLICY,
            spread=place.chance.random,
            elapsed=place.loop.time,
            slots=Slots(16, 4),
            new_id=place.new_id,
        )


class _Nothing:
    async def write(self, workspace_id: UUID, sample: object) -> None:
        """Nobody looks at it."""


def _observer_store(seat: Seat) -> MemoryObserver:
    assert isinstance(seat, MemorySeat)
    return MemoryObserver(seat)


def _controller_store(seat: Seat) -> MemoryController:
    assert isinstance(seat, MemorySeat)
    return MemoryController(seat)


async def _nobody() -> bool:
    return False


async def _to_nobody(*_: object) -> None:
    """No page is open."""
