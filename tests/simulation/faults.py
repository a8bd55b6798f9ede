"""What can go wrong, and how a case is written down so that one word brings it back."""

import re
from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """What happens at a step. Each means something at any of them, so that a list of steps is a list of cases."""

    CRASH = "crash"
    """The process ends, as by kill -9: nothing of it is ever resumed. Another one starts."""
    FREEZE = "freeze"
    """It stands still for longer than its lease, another one starts, and then it goes on from here."""
    CUT = "cut"
    """Its sessions end at once while it stands still for a moment: it goes on before its own lease is over."""
    ERROR = "error"
    """A call fails; after its effect, its answer is lost. In the database the connection is gone."""
    LIE = "lie"
    """A listing shows the world of some time ago. What is no listing is slow: slower than the lease."""
    HIDE = "hide"
    """A listing leaves out a workspace that is there. What is no listing is slow."""
    WISH = "wish"
    """The owner changes their mind, and the next time changes it back."""
    DEATH = "death"
    """Containers and jobs end by themselves."""
    ROT = "rot"
    """What the store was sent and nobody has read back yet is something else by now."""
    DEAF = "deaf"
    """The next hints are lost, and Redis starts anew with nothing."""
    ECHO = "echo"
    """The next hints come twice, and late."""
    CLOCK = "clock"
    """The database's clock is set forward, and the next time back."""


class NoSuchCase(ValueError):
    """What was written is none; it says why."""


@dataclass(frozen=True, slots=True)
class Case:
    """All that a history follows from. Written `OPERATION[@SEED][:STEP FAULT,...]`, without the space."""

    name: str
    seed: int = 0
    """0: whatever is ready first runs first."""
    faults: tuple[tuple[int, Fault], ...] | None = ()
    """At which steps; None: as the seed has it."""

    def __str__(self) -> str:
        seed = f"@{self.seed}" if self.seed else ""
        if self.faults is None:
            return f"{self.name}{seed}"
        return f"{self.name}{seed}:" + ",".join(f"{step}{fault}" for step, fault in self.faults)


def parse(text: str) -> Case:
    found = re.fullmatch(r"(\w+)(?:@(\d+))?(?::((?:\d+[a-z]+)(?:,\d+[a-z]+)*)?)?", text)
    if found is None:
        raise NoSuchCase(f"'{text}' is no case: it is written like archive:12crash,19freeze or history@7")
    faults = re.findall(r"(\d+)([a-z]+)", found[3] or "")
    if unknown := {fault for _, fault in faults}.difference(Fault):
        raise NoSuchCase(f"there is no fault '{min(unknown)}'; there are {', '.join(Fault)}")
    listed = tuple((int(step), Fault(fault)) for step, fault in faults)
    return Case(found[1], int(found[2] or 0), listed if ":" in text else None)
