"""Keeps the coordinators of this process alive: each campaigns, leads, loses, and starts again, for ever."""

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

import structlog

from codehub.clock import elapsed, now
from codehub.coordinators.leadership import Deposed, Leadership, lead
from codehub.runtimes.errors import RuntimeFault
from codehub.store.protocols import Seat, SeatLost

log = structlog.get_logger()

LONGEST_PAUSE = 30.0


class Coordinator(Protocol):
    """One of the five. `run` is its whole time in office: it returns never, and ends by cancellation or an error."""

    @property
    def name(self) -> str: ...

    @property
    def lock_name(self) -> str: ...

    async def run(self, leadership: Leadership, report: "Report") -> None: ...


@dataclass
class Report:
    """What health tells of one coordinator in this process."""

    is_leader: bool = False
    epoch: int | None = None
    since: datetime | None = None
    last_pass: datetime | None = None
    last_error: str | None = None
    restarts: int = 0
    is_failing: bool = False
    """Whether the last pass failed: told once, not at every tick."""
    terms: int = 0
    passes: int = 0
    pass_seconds: float = 0.0
    errors: int = 0
    services: dict[str, bool] = field(default_factory=dict)
    """What workspaces need, and whether it answers; kept by the coordinator that asks it."""
    store_lacks: tuple[str, ...] = ()
    """What the archive store was found not to do, though it should."""
    alarm: str | None = None
    """What a person has to see to before this coordinator goes on."""

    def passed(self) -> None:
        self.last_pass = now()
        self.passes += 1

    @contextlib.contextmanager
    def one_pass(self) -> Iterator[None]:
        """Around each pass. One that fails is told and skipped, and the next tick tries again; a lost seat is no failed
        pass: it ends the term."""
        began = elapsed()
        try:
            yield
        except (Deposed, SeatLost):
            raise
        except Exception as error:
            self.failed(error)
            if not self.is_failing:
                log.warning("pass failed", error=self.last_error, exc_info=not isinstance(error, RuntimeFault))
            self.is_failing = True
        else:
            self.is_failing = False
            self.passed()
        finally:
            self.pass_seconds += elapsed() - began

    def failed(self, error: BaseException) -> None:
        self.errors += 1
        while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]  # what a task group wraps around the one failure that there was
        self.last_error = f"{type(error).__name__}: {error}"


@dataclass(frozen=True)
class Terms:
    """How leadership is sought and kept."""

    lease_seconds: float
    retry_seconds: float
    initial_delay_max_seconds: float


@dataclass
class Supervisor:
    coordinators: list[Coordinator]
    take_seat: Callable[[str], Awaitable[Seat]]
    others_compete: Callable[[], Awaitable[bool]]
    terms: Terms
    elapsed: Callable[[], float] = elapsed
    spread: Callable[[], float] = random.random
    reports: dict[str, Report] = field(default_factory=dict)

    async def run(self) -> None:
        """Run all of them until cancelled. One that fails never takes another with it."""
        for each in self.coordinators:
            self.reports.setdefault(each.name, Report())
        await self._initial_delay()
        async with asyncio.TaskGroup() as group:
            for coordinator in self.coordinators:
                group.create_task(self._keep(coordinator), name=coordinator.name)

    async def _initial_delay(self) -> None:
        """Where other candidates are seen, do not all rush for the same locks; a lone process starts at once."""
        if await self.others_compete():
            await asyncio.sleep(self.spread() * self.terms.initial_delay_max_seconds)

    async def _keep(self, coordinator: Coordinator) -> None:
        report = self.reports[coordinator.name]
        failures = 0
        while True:
            began = self.elapsed()
            try:
                await self._one_term(coordinator, report)
            except (Deposed, SeatLost) as ended:
                log.info("leadership ended", coordinator=coordinator.name, why=repr(ended))
            except Exception as error:
                report.failed(error)
                log.exception("coordinator failed", coordinator=coordinator.name)
            finally:
                report.is_leader = False
            report.restarts += 1
            failures = 0 if self.elapsed() - began > LONGEST_PAUSE else failures + 1
            pause = min(self.terms.retry_seconds * failures, LONGEST_PAUSE)
            await asyncio.sleep(pause * (0.7 + 0.6 * self.spread()))

    async def _one_term(self, coordinator: Coordinator, report: Report) -> None:
        async def govern(leadership: Leadership) -> None:
            report.is_leader, report.epoch, report.since = True, leadership.term.epoch, now()
            report.terms += 1
            log.info("leading", coordinator=coordinator.name, epoch=leadership.term.epoch)
            await coordinator.run(leadership, report)

        seat = await self.take_seat(coordinator.lock_name)
        try:
            await lead(seat, self.terms.lease_seconds, self.elapsed, govern)
        finally:
            await seat.close()
