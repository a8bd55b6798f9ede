"""The shared services as the controller knows them: there, or away for everyone."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

import structlog

from codehub.archives.errors import StoreError
from codehub.coordinators.backup_watch import HomesStay
from codehub.coordinators.job_runner import JobFailed
from codehub.coordinators.registry import Registry
from codehub.decide.breaker import Breaker, BreakerPolicy, answered, trying, unanswered
from codehub.decide.plan import ServiceState
from codehub.decide.steps import NEEDS
from codehub.model.states import Service, Step
from codehub.model.templates import registry_of
from codehub.runtimes.errors import NoJobs, NotFound, RegistryAway, RuntimeAway, RuntimeFault
from codehub.runtimes.protocols import Runtime

log = structlog.get_logger()

PING_SECONDS = 5.0
REGISTRY_SECONDS = 30.0
"""A registry is asked by a pull, which an engine begins only when it has found out what to load."""
LOOK_SECONDS = 0.5
LOOKS_BETWEEN_PINGS = 10
LOOKS_BETWEEN_COMPARISONS = 120
"""Database and archive store are compared once a minute, and whenever a home is to be removed."""
POLICY = BreakerPolicy(failures_to_open=1)
"""One failed ping opens it: a ping asks for nothing but an answer, so its failure is the service's own."""


@dataclass(eq=False)
class _Door:
    """One service, how it is asked whether it is there, and its breaker."""

    name: str
    ask: Callable[[], Awaitable[object]]
    patience: float
    breaker: Breaker
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class Store(Protocol):
    async def ping(self) -> None:
        """Raises unless it can be used now."""


@dataclass
class Services:
    """One breaker for the runtime, two for the archive store (whether it answers, and whether it takes anything), one
    for jobs and one for each registry. A call that found nobody there asks for a ping; only the ping decides whether
    the service is away (one fault, and all workspaces wait in their phase) or this one workspace has trouble of its
    own."""

    runtime: Runtime
    store: Store
    compare: Callable[[], Awaitable[object]]
    """Compares the database with the archive store; raises unless it is the newest."""
    require_room: Callable[[], Awaitable[object]]
    """Raises unless the archive store takes something new."""
    now: Callable[[], datetime]
    changed: Callable[[], None]
    homes_made_on: str | None = None
    """The engine that was last believed to have them; None before the first time: then it is the one that answers."""
    told: dict[str, bool] = field(default_factory=dict)
    """Which of them answer, as far as they were asked; for those who watch from outside."""

    def __post_init__(self) -> None:
        self._since = self.now()
        self._engine = _Door(Service.RUNTIME, self._same_engine, PING_SECONDS, Breaker(since=self._since))
        self._archives = _Door(Service.ARCHIVE_STORE, self.store.ping, PING_SECONDS, Breaker(since=self._since))
        self._room = _Door(Service.ARCHIVE_ROOM, self.require_room, PING_SECONDS, Breaker(since=self._since))
        self._newest = _Door(Service.NEWEST_DATABASE, self._compared, PING_SECONDS, Breaker(since=self._since))
        self._jobs = _Door(Service.JOBS, self._jobs_can_run, PING_SECONDS, Breaker(since=self._since))
        self._has_compared = False
        self._registries: dict[str, tuple[Registry, _Door]] = {}

    def states(self, image: str | None) -> dict[Service, ServiceState]:
        """What a workspace with this image can count on. Of its registry only if the image had to come from there: one
        that is at hand needs none."""
        states = {
            Service.RUNTIME: _state(self._engine),
            Service.ARCHIVE_STORE: _state(self._archives),
            Service.ARCHIVE_ROOM: _state(self._room),
            Service.JOBS: _state(self._jobs),
            Service.REGISTRY: ServiceState(available=True, since=self._since),
            Service.NEWEST_DATABASE: ServiceState(
                self._has_compared and not self._newest.breaker.is_open, self._newest.breaker.since
            ),
        }
        known = self._registries.get(registry_of(image)) if image is not None else None
        if known is not None:
            registry, door = known
            at_hand = image not in registry.wanted
            states[Service.REGISTRY] = ServiceState(at_hand or not door.breaker.is_open, door.breaker.since)
        return states

    async def away(
        self, error: RuntimeFault | StoreError, image: str | None = None, step: Step | None = None
    ) -> Service | None:
        """The service that is away for everyone, if that is what this error, met at this step, comes from."""
        writes = step is not None and Service.ARCHIVE_ROOM in NEEDS[step]
        match error:
            case HomesStay() if await self._is_away(self._newest):
                return Service.NEWEST_DATABASE
            case StoreError() | JobFailed(passes=True) if await self._is_away(self._archives):
                return Service.ARCHIVE_STORE
            case StoreError() | HomesStay() | JobFailed(passes=True) if writes and await self._is_away(self._room):
                return Service.ARCHIVE_ROOM
            case NoJobs() if await self._is_away(self._jobs):
                return Service.JOBS
            case RuntimeAway() | NotFound() if await self._is_away(self._engine):
                return Service.RUNTIME
            case RegistryAway() if image is not None and await self._is_away(self._door_to(image)):
                return Service.REGISTRY
            case _:
                return None

    async def watch(self) -> None:
        """Try again, with growing pauses, what is away; one that hangs keeps no other from its trial. The engine is
        asked now and then in any case: one that was replaced does what it is told, and nothing of it lasts. So is the
        archive store: whoever waits for an archive to be seen would not notice that nobody can look."""
        asked = {
            self._engine: LOOKS_BETWEEN_PINGS,
            self._archives: LOOKS_BETWEEN_PINGS,
            self._newest: LOOKS_BETWEEN_COMPARISONS,
        }
        async with asyncio.TaskGroup() as group:
            for look in itertools.count():
                for door in (*asked, self._room, self._jobs, *(door for _, door in self._registries.values())):
                    due = door.breaker.is_open or (door in asked and look % asked[door] == 0)
                    if due and not door.turn.locked():
                        group.create_task(self._is_away(door), name=f"try {door.name}")
                await asyncio.sleep(LOOK_SECONDS)

    async def _compared(self) -> None:
        """What was never compared is not known to be the newest: until then no home is removed."""
        await self.compare()
        if not self._has_compared:
            self._has_compared = True
            self.changed()

    async def _same_engine(self) -> None:
        """One that is not the one that the homes were made on is as good as none: it would be asked for other homes."""
        seen = await self.runtime.engine()
        self.homes_made_on = self.homes_made_on or seen
        if seen != self.homes_made_on:
            raise RuntimeAway(f"the engine is {seen}, but the homes were made on {self.homes_made_on}")

    async def _jobs_can_run(self) -> None:
        if lack := await self.runtime.jobs.lack():
            raise NoJobs(lack)

    def _door_to(self, image: str) -> _Door:
        host = registry_of(image)
        if host not in self._registries:
            registry = Registry(self.runtime.instances)
            door = _Door(f"registry {host}", registry.answers, REGISTRY_SECONDS, Breaker(since=self._since))
            self._registries[host] = registry, door
        registry, door = self._registries[host]
        registry.wanted[image] = None
        return door

    async def _is_away(self, door: _Door) -> bool:
        """Ask the service itself, now. While it is known to be away, only once in each pause, whoever asks."""
        async with door.turn:
            before = door.breaker
            if not before.allows(self.now(), POLICY):
                return True
            door.breaker = trying(before, self.now())
            try:
                async with asyncio.timeout(door.patience):
                    await door.ask()
            except Exception as error:  # noqa: BLE001 (whatever a service answers a ping with, it is not there)
                door.breaker = unanswered(before, self.now(), POLICY)
                if not before.is_open:
                    log.warning("service away: what needs it waits", service=door.name, error=repr(error))
            else:
                door.breaker = answered(before, self.now())
                if before.is_open:
                    log.info("service back", service=door.name)
            self.told[door.name] = not door.breaker.is_open
            if before.is_open is not door.breaker.is_open:
                self.changed()
            return door.breaker.is_open


def _state(door: _Door) -> ServiceState:
    return ServiceState(not door.breaker.is_open, door.breaker.since)
