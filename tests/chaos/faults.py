"""What is done to an installation: by chance, which a seed decides."""

import asyncio
import os
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from uuid import UUID

from codehub.stack.restarts import ASKS
from tests.chaos.engine import Engine
from tests.chaos.ground import DISKS, Ground
from tests.chaos.history import History, Struck
from tests.chaos.relay import Trouble
from tests.stack.installation import is_alive

SERVICES = ("postgres", "valkey", "seaweedfs")
PROCESSES = ("serve-1", "serve-2", "proxy-1", "proxy-2")
JOB = "job"
WORKSPACE = "workspace"
"""The container of one in which somebody works."""
EVERYTHING = "codehub"
"""All that answers, with whoever keeps it alive."""
STORE = "seaweedfs"
LONGEST_SECONDS = 6.0
ALIVE_SECONDS = 60
NOTICED_SECONDS = 300
FULL_SECONDS = 6.0, 12.0
"""Long enough for codehub to look once more, and to see it."""


class Kind(StrEnum):
    KILL = "kill"
    FREEZE = "freeze"
    CUT = "cut"
    RESTART = "restart"
    FILL = "fill"
    """Its disk is full for a while."""


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
    Kind.KILL: (*(3 * PROCESSES), JOB, JOB, WORKSPACE, WORKSPACE, EVERYTHING, *SERVICES, "postgres", "valkey"),
    Kind.FREEZE: (*PROCESSES, *SERVICES),
    Kind.CUT: (*SERVICES, "engine"),
    Kind.RESTART: (*SERVICES, EVERYTHING),
    Kind.FILL: DISKS,
}
SHARES = {Kind.KILL: 0.7, Kind.FREEZE: 0.1, Kind.CUT: 0.1, Kind.RESTART: 0.07, Kind.FILL: 0.03}
LASTS = {Kind.FREEZE: (1.0, LONGEST_SECONDS), Kind.CUT: (1.0, LONGEST_SECONDS), Kind.FILL: FULL_SECONDS}


def endless(chance: Random, shares: Mapping[Kind, float] = SHARES) -> Iterator[Fault]:
    while True:
        (kind,) = chance.choices(list(shares), list(shares.values()))
        yield fault(kind, chance)


def fault(kind: Kind, chance: Random) -> Fault:
    return Fault(
        kind,
        chance.choice(TARGETS[kind]),
        round(chance.uniform(*LASTS[kind]), 1) if kind in LASTS else 0,
        chance.choice(list(Trouble)) if kind is Kind.CUT else None,
    )


INSTEAD = Fault(Kind.KILL, PROCESSES[0])
"""Where no job runs, or no workspace."""


@dataclass
class Striker:
    ground: Ground
    engine: Engine
    history: History
    spared: UUID
    """A workspace that must not be disturbed."""

    async def strike(self, fault: Fault) -> Fault:
        """Over when its trouble is; what follows from it is not. What struck."""
        if fault.target in {JOB, WORKSPACE}:
            return await self._strike_container(fault)
        self._tell(fault)
        match fault.kind:
            case Kind.KILL:
                os.kill(await self._alive(fault.target), signal.SIGKILL)
            case Kind.FREEZE:
                await self._freeze(await self._alive(fault.target), fault.seconds)
            case Kind.CUT:
                assert fault.trouble is not None
                await self.ground.ways[fault.target].suffer(fault.trouble, fault.seconds)
            case Kind.FILL:
                async with self.ground.disks[fault.target].full():
                    await asyncio.sleep(fault.seconds)
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

    async def _strike_container(self, fault: Fault) -> Fault:
        """Over when what ended is out of the way, and what is wished of a workspace can come about again."""
        victim = await (self.engine.kill_job() if fault.target == JOB else self.engine.kill_workspace(self.spared))
        if victim is None:
            return await self.strike(INSTEAD)
        self._tell(fault)
        async with asyncio.timeout(NOTICED_SECONDS):
            while fault.target == WORKSPACE and await self.engine.is_there(victim):
                await asyncio.sleep(0.1)
        return fault

    def _tell(self, fault: Fault) -> None:
        self.history.tell(Struck(time.time(), fault.name, fault.target, fault.seconds))

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
