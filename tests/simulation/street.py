"""People at a front door in the simulation: the real telling of activity, the real TTL runner and EventListener, and
the twin of Redis between them."""

import asyncio
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import cast
from uuid import UUID

from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from codehub.bus.activity import Activity
from codehub.bus.activity_keys import Keys
from codehub.bus.activity_watch import ActivityWatch
from codehub.bus.hints import Hints, Listener
from codehub.bus.page_events import PageEvent, PageEvents
from codehub.coordinators.event_listener import EventListener
from codehub.coordinators.ttl_runner import TtlRunner
from codehub.decide.idle import IdlePolicy
from codehub.model.activity import Kind
from codehub.model.states import Phase
from codehub.model.workspace import Workspace
from codehub.store.protocols import Seat
from codehub.telemetry.metrics import fresh
from tests.simulation.loop import PROCESS, Process, State
from tests.simulation.memory_database import MemoryDatabase
from tests.simulation.memory_idle import MemoryIdle
from tests.simulation.memory_redis import MemoryRedis
from tests.simulation.memory_seat import MemorySeat
from tests.simulation.memory_store import MemoryFeed
from tests.simulation.replica import Place, Replica
from tests.simulation.steps import SLOW_SECONDS, Steps

FLUSH_SECONDS = 4.0
RUNNER_SECONDS = 3.0
IDLE = IdlePolicy(standby_after_seconds=12, archive_after_seconds=8, flush_interval=timedelta(seconds=FLUSH_SECONDS))
BETWEEN_KEYS_SECONDS = 9.5
"""Less than the idle time; with one of them lost it is more, and a flush beyond."""
KEYS_PRESSED = 3
TOLD_WITHIN_SECONDS = FLUSH_SECONDS + SLOW_SECONDS
NEVER = float("-inf")
KEYS = Keys("activity")
PAGES = "pages"
METRICS = fresh()


class SimulatedRedis(MemoryRedis):
    """There is a step before and after whatever it is asked."""

    def __init__(self, clock: Callable[[], float], steps: Steps) -> None:
        super().__init__(clock)
        self._steps = steps
        self.told: dict[UUID, float] = {}
        """When each was last used, as far as it was ever told."""
        self.looked_at: dict[UUID, float] = {}
        """As far as it had been told when the TTL runner last looked."""

    async def _about_to(self, name: str) -> None:
        await self._steps.take(f"redis: {name}", _away)

    async def _has_done(self, name: str) -> None:
        self.told |= {UUID(each): score for each, score in self.sets.get(KEYS.told[0], {}).items()}
        if name == "look":
            self.looked_at = dict(self.told)
        await self._steps.take(f"redis: has done {name}", _away)


def _away() -> None:
    raise RedisConnectionError("redis does not answer")


@dataclass
class Page:
    """A dashboard that is open all the time: it believes what it is told, and reads everything when it is told to."""

    database: MemoryDatabase
    shown: dict[UUID, tuple[str, str]] = field(default_factory=dict)

    def hear(self, _channel: str, message: bytes) -> None:
        event, _, data = message.partition(b"\n")
        told = json.loads(data)
        match PageEvent(event.decode()):
            case PageEvent.UPDATED:
                self.shown[UUID(told["id"])] = told["phase"], told["desired_state"]
            case PageEvent.DELETED:
                self.shown.pop(UUID(told["id"]), None)
            case PageEvent.RESYNC:
                self.shown = {row.id: _as_shown(row) for row in self.database.rows.values() if row.deleted_at is None}
            case PageEvent.PROGRESS:
                pass


def _as_shown(row: Workspace) -> tuple[str, str]:
    return row.phase.value, row.desired_state.value


@dataclass
class Door:
    """One process of the front door."""

    process: Process
    activity: Activity

    async def run(self) -> None:
        async with self.activity.running():
            await asyncio.get_running_loop().create_future()


@dataclass
class Street:
    place: Place
    redis: SimulatedRedis = field(init=False)
    page: Page = field(init=False)
    doors: list[Door] = field(default_factory=list)
    used: dict[UUID, float] = field(default_factory=dict)
    """When each was last used, but for what was lost with the front door that had seen it."""
    at_work: set[UUID] = field(default_factory=set)
    """Where somebody presses a key now and then."""

    def __post_init__(self) -> None:
        self.redis = SimulatedRedis(self.place.loop.time, self.place.steps)
        self.page = Page(self.place.database)
        self.redis.subscribers.append(self.page.hear)

    def open_door(self) -> None:
        """Each speaks for the one before it, and tells as one that has just come."""
        process = Process(f"door {len(self.doors) + 1}")
        activity = Activity(cast("Redis", self.redis), KEYS, "door", FLUSH_SECONDS, self.place.loop.time)
        door = Door(process, activity)
        self.doors.append(door)
        context = copy_context()
        context.run(PROCESS.set, process)
        self.place.loop.create_task(door.run(), context=context)

    def is_door(self, process: Process) -> bool:
        return any(each.process is process for each in self.doors)

    def crashed(self, process: Process) -> None:
        """What it alone had seen is lost with it, and its successor comes at once."""
        if self.is_door(process):
            self.used = dict(self.redis.told)
            self.place.loop.outside(0.0, self.open_door)

    def press_keys(self, workspace_ids: Iterable[UUID]) -> None:
        """While the front door stands still nothing gets through."""
        door = self.doors[-1]
        for each in workspace_ids:
            if self.place.database.rows[each].phase is Phase.RUNNING and door.process.state is State.LIVE:
                self.place.steps.say(f"     somebody uses {each.int}")
                door.activity.record(each, Kind.EDIT)
                self.used[each] = self.place.loop.time()

    async def work(self, workspace_id: UUID) -> None:
        """Now and then a key, never so seldom that it would be idle; then nobody is there any more."""
        self.at_work.add(workspace_id)
        for _ in range(KEYS_PRESSED):
            self.press_keys(self.at_work)
            await asyncio.sleep(BETWEEN_KEYS_SECONDS)
        self.at_work.clear()

    def unsettled(self) -> Iterator[str]:
        rows = self.place.database.rows.values()
        yield from pages_show_what_is(self.page, rows)
        for row in rows:
            yield from contract_14_what_is_idle_sleeps(row, self.at_work)


def pages_show_what_is(page: Page, rows: Collection[Workspace]) -> Iterator[str]:
    for row in rows:
        expected = None if row.deleted_at is not None else _as_shown(row)
        if page.shown.get(row.id) != expected:
            yield f"pages: {page.shown.get(row.id)} is shown, and {expected} is so"


def contract_14_what_is_idle_sleeps(row: Workspace, at_work: set[UUID]) -> Iterator[str]:
    if row.id not in at_work and row.deleted_at is None and row.phase is not Phase.ARCHIVED:
        yield f"contract 14: nobody uses it, and it is {row.phase}"


def contract_14_nobody_at_work_is_put_to_sleep(before: Workspace, after: Workspace, street: Street) -> Iterator[str]:
    """Asked when the TTL runner wishes it: all of the idle time has passed since the last sign of life that had been
    told when it looked, and since any that should have been told by then."""
    if before.desired_state is after.desired_state or after.phase is not Phase.RUNNING:
        return
    now = street.place.loop.time()
    signs = (street.redis.looked_at.get(after.id, NEVER), street.used.get(after.id, NEVER))
    for idle, at_least in zip((now - each for each in signs), (0.0, TOLD_WITHIN_SECONDS), strict=True):
        if at_least <= idle < IDLE.standby_after_seconds:
            yield f"contract 14: put to sleep {idle:.1f} s after it was used"


def ttl_runner(street: Street, replica: Replica) -> TtlRunner:
    bus = replica.place.bus

    async def wake(workspace_ids: Sequence[UUID]) -> None:
        for listener in Listener:
            await bus.wake(listener, *workspace_ids)

    return TtlRunner(
        open_store=_idle_store,
        watch=ActivityWatch(cast("Redis", street.redis), KEYS),
        policy=IDLE,
        wake=wake,
        metrics=METRICS,
        interval_seconds=RUNNER_SECONDS,
    )


def event_listener(street: Street, replica: Replica) -> EventListener:
    pages = PageEvents(cast("Redis", street.redis), PAGES, IDLE)
    return EventListener(_feed, cast("Hints", replica.place.bus), pages)


def on(street: Street) -> tuple[Callable[[Replica], TtlRunner], Callable[[Replica], EventListener]]:
    """The coordinators that a street needs."""
    return partial(ttl_runner, street), partial(event_listener, street)


def _idle_store(seat: Seat) -> MemoryIdle:
    assert isinstance(seat, MemorySeat)
    return MemoryIdle(seat, IDLE)


def _feed(seat: Seat) -> MemoryFeed:
    assert isinstance(seat, MemorySeat)
    return MemoryFeed(seat)
