"""The TTL runner brings activity into the database, and puts to sleep what nobody uses."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

import structlog
from redis.exceptions import RedisError

from codehub.bus.activity_watch import Sight
from codehub.coordinators.leadership import Leadership
from codehub.coordinators.supervisor import Report
from codehub.decide.idle import IdlePolicy, is_current
from codehub.model.activity import Doors, Sign
from codehub.model.states import Desired
from codehub.store.protocols import IdleStore, Seat
from codehub.telemetry.metrics import Metrics

log = structlog.get_logger()

BATCH = 500
"""How many rows one statement writes: in the time that it may take, with all that their triggers do."""

REDIS_AWAY = "redis away"
NO_FRONT_DOOR = "no front door"
SILENT_FRONT_DOOR = "a front door is silent"


class Watch(Protocol):
    """Raises RedisError or OSError where it cannot look."""

    async def look(self, database_now: datetime) -> Sight:
        """What was told, and since when nothing was missed: no longer than since a clock was last set."""

    async def forget(self, signs: Sequence[Sign]) -> None:
        """Of these, what is still the newest. Only after it was stored."""


@dataclass
class TtlRunner:
    """Who cannot be seen is not idle: while Redis is away, a front door is silent or there is none, nobody is put to
    sleep; and whoever may not have been seen for a while has all of their idle time from then on."""

    open_store: Callable[[Seat], IdleStore]
    watch: Watch
    policy: IdlePolicy
    wake: Callable[[Sequence[UUID]], Awaitable[None]]
    """Tells the others, after the commit, that these have something to do."""
    metrics: Metrics
    interval_seconds: float
    name: str = "ttl"
    lock_name: str = "coordinator:ttl"
    _blind: str | None = None
    """Why nobody can be seen."""

    async def run(self, leadership: Leadership, report: Report) -> None:
        store = self.open_store(leadership.seat)
        while True:
            await leadership.verify()
            with report.one_pass():
                await self.make_pass(store)
            await asyncio.sleep(self.interval_seconds)

    async def make_pass(self, store: IdleStore) -> None:
        sight = await self._bring_in(store)
        if sight is None:
            return
        if sight.doors is not None and self._sees(sight.doors):
            await self._stand_by(store, sight.doors)
        elif sight.doors is None:
            self._note(NO_FRONT_DOOR)
        await self._archive(store)

    async def _bring_in(self, store: IdleStore) -> Sight | None:
        """What was seen is stored before it is forgotten: who dies in between tells it again, which changes nothing.
        None: nobody can be seen."""
        try:
            sight = await self.watch.look(await store.now())
            for start in range(0, len(sight.signs), BATCH):
                await store.bring_in(sight.signs[start : start + BATCH])
            await self.watch.forget(sight.signs)
        except (RedisError, OSError) as error:
            self._note(REDIS_AWAY, error=repr(error))
            return None
        return sight

    def _sees(self, doors: Doors) -> bool:
        silent = timedelta(seconds=doors.silent_for_seconds)
        if not is_current(silent, self.policy):
            self._note(SILENT_FRONT_DOOR, front_door=doors.most_silent, seconds=round(doors.silent_for_seconds))
            return False
        self._note(None)
        return True

    async def _stand_by(self, store: IdleStore, doors: Doors) -> None:
        while ids := await store.may_stand_by(doors, BATCH):
            sight = await self._bring_in(store)  # somebody may have come back since, or a front door fallen silent
            if sight is None or sight.doors is None or not self._sees(sight.doors):
                return
            slept = await store.stand_by(ids, sight.doors)
            await self._tell(Desired.STANDBY, slept)
            if not slept or len(ids) < BATCH:
                return

    async def _archive(self, store: IdleStore) -> None:
        """By the database alone: nobody works in what is stopped."""
        while ids := await store.may_be_archived(BATCH):
            archived = await store.archive(ids)
            await self._tell(Desired.ARCHIVED, archived)
            if not archived or len(ids) < BATCH:
                return

    async def _tell(self, wished: Desired, ids: Sequence[UUID]) -> None:
        if ids:
            log.info("put to sleep", wish=wished, count=len(ids))
            self.metrics.idle_wishes.labels(wished).inc(len(ids))
            await self.wake(ids)

    def _note(self, blind: str | None, **why: object) -> None:
        """Once for each change."""
        if blind is not None and blind != self._blind:
            log.warning("nobody is put to sleep", reason=blind, **why)
        elif blind is None and self._blind is not None:
            log.info("idle workspaces are put to sleep again")
        self._blind = blind
