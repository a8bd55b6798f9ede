"""The steps of a history: wherever a process meets the outside, in the order in which they are taken."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

from codehub.model.workspace import Workspace
from tests.simulation.faults import Fault
from tests.simulation.loop import PROCESS, Process, VirtualLoop

SLOW_SECONDS = 3.0
"""Longer than a lease, and shorter than any operation may take."""
SLOW_COMMIT_SECONDS = 0.7


class Watcher(Protocol):
    """Is told of every effect before it has it."""

    def object_written(self, key: str, data: bytes) -> None: ...
    def object_deleted(self, key: str) -> None: ...
    def volume_deleted(self, name: str) -> None: ...
    def acts(self, what: str, *, destroys: bool) -> None:
        """A call that changes something is about to leave its process."""

    def row_written(self, before: Workspace | None, after: Workspace, writer: str | None) -> None: ...


class Sufferer(Protocol):
    """Lets happen what concerns more than the one call."""

    def crash(self, process: Process) -> None: ...
    def freeze(self, process: Process) -> None: ...
    def cut(self, process: Process) -> None: ...
    def change_mind(self) -> None: ...
    def let_die(self) -> None: ...
    def let_rot(self) -> None: ...
    def set_clock(self) -> None: ...
    def disturb_hints(self, fault: Fault) -> None: ...


@dataclass
class Steps:
    loop: VirtualLoop
    faults: dict[int, Fault] = field(default_factory=dict)
    """What happens at which step."""
    rate: float = 0.0
    """How likely something happens at any other."""
    kinds: tuple[Fault, ...] = ()
    chance: Random = field(default_factory=lambda: Random(0))
    sufferer: Sufferer | None = None
    taken: int = 0
    fired: list[tuple[int, Fault]] = field(default_factory=list)
    trace: list[str] | None = None
    """Every step in words, where somebody wants to read them."""

    async def take(
        self, what: str, fails: Callable[[], None], *, look: bool = False, slow: float = SLOW_SECONDS
    ) -> Fault | None:
        """One step. Returns the fault that only the one who looks can suffer; may never return."""
        process = PROCESS.get()
        if self.sufferer is None or process is None:
            return None
        number = self.taken
        self.taken += 1
        if self.trace is not None:
            self.say(f"{number:4} {process.name} {what}")
        fault = self._fault_at(number)
        if fault is None:
            return None
        self.fired.append((number, fault))
        self.say(f"     *** {fault}")
        return await self._suffer(process, fault, fails, look=look, slow=slow)

    def say(self, what: str) -> None:
        if self.trace is not None:
            self.trace.append(f"{self.loop.time():9.3f} {what}")

    @property
    def counted(self) -> Counter[str]:
        return Counter(fault for _, fault in self.fired)

    def _fault_at(self, number: int) -> Fault | None:
        if self.rate and self.chance.random() < self.rate:
            return self.chance.choice(self.kinds)
        return self.faults.get(number)

    async def _suffer(
        self, process: Process, fault: Fault, fails: Callable[[], None], *, look: bool, slow: float
    ) -> Fault | None:
        assert self.sufferer is not None
        match fault:
            case Fault.CRASH:
                self.sufferer.crash(process)
                await self.loop.create_future()  # the dead return to nobody
            case Fault.FREEZE:
                self.sufferer.freeze(process)
                await asyncio.sleep(0)
            case Fault.CUT:
                self.sufferer.cut(process)
                await asyncio.sleep(0)
            case Fault.ERROR:
                fails()
            case Fault.LIE | Fault.HIDE if look:
                return fault
            case Fault.LIE | Fault.HIDE:
                await asyncio.sleep(slow)
            case Fault.WISH:
                self.sufferer.change_mind()
            case Fault.DEATH:
                self.sufferer.let_die()
            case Fault.ROT:
                self.sufferer.let_rot()
            case Fault.CLOCK:
                self.sufferer.set_clock()
            case Fault.DEAF | Fault.ECHO:
                self.sufferer.disturb_hints(fault)
        return None
