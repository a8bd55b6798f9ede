"""What is done to an installation: by chance, which a seed decides."""

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from codehub.stack.restarts import ASKS
from tests.chaos.engine import Engine
from tests.chaos.ground import Ground
from tests.chaos.history import History, Struck
from tests.chaos.relay import Trouble
from tests.stack.installation import is_alive

SERVICES = ("postgres", "valkey", "seaweedfs")
PROCESSES = ("serve-1", "serve-2", "proxy-1", "proxy-2")
JOB = "job"
EVERYTHING = "codehub"
"""All that answers, with whoever keeps it alive."""
STORE = "seaweedfs"
LONGEST_SECONDS = 6.0
ALIVE_SECONDS = 60


class Kind(StrEnum):
    KILL = "kill"
    FREEZE = "freeze"
    CUT = "cut"
    RESTART = "restart"


@dataclass(frozen=True)
class Fault:
    kind: Kind
    target: str
    seconds: float = 0
    trouble: Trouble | None = None

    @property
    def name(self) -> str:
        return f"{self.kind} ({self.trouble})" if self.trouble is not None else str(self.kind)


TARGETS = {
    # The replicas do the work, and come back soonest.
    Kind.KILL: (*(3 * PROCESSES), JOB, JOB, EVERYTHING, *SERVICES, "postgres", "valkey"),
    Kind.FREEZE: (*PROCESSES, *SERVICES),
    Kind.CUT: (*SERVICES, "engine"),
    Kind.RESTART: (*SERVICES, EVERYTHING),
}
SHARES = {Kind.KILL: 0.72, Kind.FREEZE: 0.1, Kind.CUT: 0.1, Kind.RESTART: 0.08}


def endless(chance: Random) -> Iterator[Fault]:
    while True:
        (kind,) = chance.choices(list(SHARES), list(SHARES.values()))
        yield fault(kind, chance)


def fault(kind: Kind, chance: Random) -> Fault:
    lasts = kind in {Kind.FREEZE, Kind.CUT}
    return Fault(
        kind,
        chance.choice(TARGETS[kind]),
        round(chance.uniform(1, LONGEST_SECONDS), 1) if lasts else 0,
        chance.choice(list(Trouble)) if kind is Kind.CUT else None,
    )


@dataclass
class Striker:
    ground: Ground
    engine: Engine
    history: History

    async def strike(self, fault: Fault) -> Fault:
        """Over when its trouble is; what follows from it is not. What struck."""
        if fault.target == JOB:
            fault = await self._at_a_job(fault)
        self.history.tell(Struck(time.time(), fault.name, fault.target, fault.seconds))
        match fault.kind:
            case Kind.KILL if fault.target == JOB:
                pass  # done, since it was there
            case Kind.KILL:
                os.kill(await self._alive(fault.target), signal.SIGKILL)
            case Kind.FREEZE:
                await self._freeze(await self._alive(fault.target), fault.seconds)
            case Kind.CUT:
                assert fault.trouble is not None
                await self.ground.ways[fault.target].suffer(fault.trouble, fault.seconds)
            case Kind.RESTART:
                await self._restart(fault.target)
        return fault

    async def _restart(self, target: str) -> None:
        """As codehub stops a service: politely, and at once where that takes too long. It is started again."""
        pid = await self._alive(target)
        if target == EVERYTHING:
            return os.kill(pid, ASKS)
        service = self.ground.services[target]
        os.kill(pid, service.stop_signal)
        deadline = time.monotonic() + service.stop_seconds
        while is_alive(pid) and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        if is_alive(pid):
            os.kill(pid, service.death_signal)
        return None

    async def _at_a_job(self, fault: Fault) -> Fault:
        """Where none runs, a replica is killed instead."""
        return fault if await self.engine.kill_job() else Fault(fault.kind, PROCESSES[0])

    async def _alive(self, name: str) -> int:
        async with asyncio.timeout(ALIVE_SECONDS):
            while (pid := self.ground.pid(name)) is None or not is_alive(pid):
                await asyncio.sleep(0.05)
        return pid

    async def _freeze(self, pid: int, seconds: float) -> None:
        os.kill(pid, signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            if is_alive(pid):
                os.kill(pid, signal.SIGCONT)
