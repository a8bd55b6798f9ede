"""What the supervisor looks after: services that it keeps running, and external ones that it only watches."""

import asyncio
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from codehub import clock
from codehub.errors import CodehubError, ServiceError
from codehub.stack.data_folder import mapped_faults
from codehub.stack.logs import last_words
from codehub.stack.service import Service, ended, launch
from codehub.telemetry.health import Check

POLL_SECONDS = 0.02  # until a part is ready; the longer it takes, the less often
LONGEST_POLL_SECONDS = 0.2
CHECK_SECONDS = 5.0  # once it is ready
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 15.0
RAN_WELL_SECONDS = 5.0  # ready for this long: what killed it was no fault of the start, and the pauses begin anew
KILL_AFTER_SECONDS = 5.0


class State(StrEnum):
    WAITING = "waiting"
    STARTING = "starting"
    READY = "ready"
    SILENT = "not answering"
    RESTARTING = "restarting"
    STOPPING = "stopping"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True)
class PartStatus:
    """What `codehub status` shows of a part."""

    name: str
    state: State
    since: datetime
    pid: int | None = None
    restarts: int = 0
    latency_ms: float | None = None
    detail: str = ""
    took_ms: int | None = None  # from its start until it was ready


Changed = Callable[[PartStatus, PartStatus], None]


class Part:
    """A status that tells somebody when it changes, and the moment when the part was ready for the first time."""

    def __init__(self, name: str, changed: Changed) -> None:
        self.status = PartStatus(name, State.WAITING, clock.now())
        self.started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._changed = changed
        self._stop = asyncio.Event()

    def _become(self, state: State, **details: Any) -> None:  # noqa: ANN401 (fields of PartStatus)
        before = self.status
        since = before.since if state is before.state else clock.now()
        self.status = replace(before, state=state, since=since, **details)
        self._changed(before, self.status)

    def _become_ready(self, check: Check, began: float) -> None:
        first = self.status.state is State.STARTING
        took = round((time.monotonic() - began) * 1000) if first else self.status.took_ms
        self._become(State.READY, latency_ms=check.latency_ms, detail=check.detail, took_ms=took)
        if not self.started.done():
            self.started.set_result(None)


class External(Part):
    """A service that somebody else runs. A needed one must be usable at the start; later it may come and go."""

    def __init__(
        self, name: str, check: Callable[[], Awaitable[Check]], changed: Changed, *, called: str, needed: bool
    ) -> None:
        super().__init__(name, changed)
        self._check = check
        self._called = called
        self._needed = needed

    async def run(self) -> None:
        began = time.monotonic()
        self._become(State.STARTING)
        while not self._stop.is_set():
            check = await self._check()
            if check.ok:
                self._become_ready(check, began)
            elif self._needed and not self.started.done():
                self._become(State.FAILED, detail=check.detail)
                return self.started.set_exception(ServiceError(f"{self._called} {check.detail}.", check.remedy))
            else:
                self._become(State.SILENT, detail=f"{self._called} {check.detail}. {check.remedy}", latency_ms=None)
                if not self.started.done():
                    self.started.set_result(None)
            await _either(self._stop, CHECK_SECONDS)
        return self._become(State.STOPPED, latency_ms=None, detail="")

    async def stop(self) -> None:
        self._stop.set()


class Kept(Part):
    """A service that is started, started again whenever it dies, and stopped when asked. Of one that has not passed its
    checks for so many seconds `is_stuck` is asked: if it is, it is ended, and started again."""

    def __init__(
        self,
        service: Service,
        changed: Changed,
        *,
        hurry: asyncio.Event,
        needed: bool = True,
        is_stuck: Callable[[float], bool] = lambda _seconds: False,
    ) -> None:
        super().__init__(service.name, changed)
        self._service = service
        self._is_stuck = is_stuck
        self._needed = needed
        self._hurry = hurry
        self._drain: tuple[signal.Signals, float] | None = None
        self._now = asyncio.Event()
        self._over = asyncio.Event()

    async def run(self) -> None:
        """Until `stop`. A needed service that cannot be started even once ends it early, and `started` tells why."""
        try:
            await self._keep()
        finally:
            self._over.set()

    async def _keep(self) -> None:
        pause = FIRST_PAUSE_SECONDS
        while not self._stop.is_set():
            fault = await self._one_life()
            if self._stop.is_set():
                break
            if self._needed and not self.started.done():
                self._become(State.FAILED, detail=str(fault), pid=None)
                self.started.set_exception(fault)
                return
            if self.status.state is State.READY and _seconds_since(self.status.since) > RAN_WELL_SECONDS:
                pause = FIRST_PAUSE_SECONDS
            restarts = self.status.restarts + 1
            self._become(State.RESTARTING, detail=str(fault), pid=None, latency_ms=None, restarts=restarts)
            await _either(self._stop, pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
        self._become(State.STOPPED, pid=None, latency_ms=None, detail="")

    async def stop(self) -> None:
        """Ask it to end, and wait until it has; `hurry` cuts the patience short."""
        self._now.set()
        self._stop.set()
        await self._over.wait()

    async def retire(self, drain_signal: signal.Signals, seconds: float) -> None:
        """As `stop`, but another has taken its place: it may first let go of those who still use it."""
        self._drain = drain_signal, seconds
        self._stop.set()
        await self._over.wait()

    async def _one_life(self) -> CodehubError:
        """Start the service, watch it until it ends, and say why it ended."""
        began = time.monotonic()
        self._become(State.STARTING, detail="")
        try:
            await asyncio.to_thread(self._prepare)
            log_begins = self._service.log.stat().st_size if self._service.log.exists() else 0
            process = launch(self._service)
        except CodehubError as error:
            return error
        except OSError as error:
            return ServiceError(f"{self._service.name} could not be started: {error}.")
        self._become(State.STARTING, pid=process.pid)
        async with asyncio.TaskGroup() as helpers:
            watching = helpers.create_task(self._watch(process, began))
            ending = helpers.create_task(self._end_when_asked(process))
            code = await ended(process)
            watching.cancel()
            ending.cancel()
        if not watching.cancelled() and (stuck := watching.result()) is not None:
            return stuck
        if code < 0:
            return ServiceError(f"{self._service.name} was killed by {signal.Signals(-code).name}.")
        words = await asyncio.to_thread(last_words, self._service.log, log_begins)
        what = f"{self._service.name} ended with exit code {code}: {words.rstrip('.')}."
        return ServiceError(what, f"Its log is {self._service.log}")

    def _prepare(self) -> None:
        with mapped_faults(self._service.folder):
            self._service.prepare()

    async def _watch(self, process: subprocess.Popen[bytes], began: float) -> CodehubError | None:
        """Often until it is ready, and once more at once: the first answer may have waited for the start to end. If it
        is stuck, end it and tell why."""
        poll = POLL_SECONDS
        while True:
            was_starting = self.status.state is State.STARTING
            check = await self._service.check()
            if self._stop.is_set():
                return None
            if check.ok:
                self._become_ready(check, began)
            elif not was_starting:
                self._become(State.SILENT, detail=check.detail, latency_ms=None)
                if self._is_stuck(_seconds_since(self.status.since)):
                    process.send_signal(self._service.death_signal)
                    return ServiceError(f"{self._service.name} is stuck, and is started anew: {check.detail}.")
            elif check.lasting and self._needed and not self.started.done():
                fault = ServiceError(f"{self._service.name} {check.detail}.", f"Its log is {self._service.log}")
                self.started.set_exception(fault)
            await asyncio.sleep(poll if was_starting else CHECK_SECONDS)
            poll = min(poll * 1.2, LONGEST_POLL_SECONDS)

    async def _end_when_asked(self, process: subprocess.Popen[bytes]) -> None:
        """First politely, then with the signal that ends it at once, at last without asking."""
        await self._stop.wait()
        self._become(State.STOPPING, detail="")
        if self._drain is not None:
            drain_signal, seconds = self._drain
            process.send_signal(drain_signal)
            await _either(self._now, seconds)
        process.send_signal(self._service.stop_signal)
        await _either(self._hurry, self._service.stop_seconds)
        process.send_signal(self._service.death_signal)
        await asyncio.sleep(KILL_AFTER_SECONDS)
        process.kill()


async def _either(event: asyncio.Event, seconds: float) -> None:
    """Wait for the event, but not longer than this."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return


def _seconds_since(moment: datetime) -> float:
    return (clock.now() - moment).total_seconds()
