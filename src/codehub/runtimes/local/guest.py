"""What a shim stands behind: a workspace or a job."""

import subprocess
from dataclasses import dataclass
from typing import Protocol

from codehub.runtimes.local import limits


@dataclass(frozen=True, slots=True)
class Share:
    """What a guest may use at most."""

    group: limits.Group
    memory_bytes: int
    cpus: float | None
    """None: whatever nobody else wants."""
    pids: int


class Guest(Protocol):
    """All that differs from one to the other. Made in its shim, where it may open what has to stay open."""

    log_bytes: int
    """How long a part of its log becomes."""
    kept_open: tuple[int, ...]
    """Descriptors that the sandbox inherits."""
    errors: int | None
    """Where it complains; None: where it prints."""

    @property
    def share(self) -> Share: ...

    def prepare(self) -> None:
        """Before anything is started."""

    def command(self, arguments: int) -> list[str]:
        """The chain of programs that becomes the sandbox; bubblewrap reads what it is to do from the descriptor."""

    def arguments(self) -> list[str]:
        """What bubblewrap is told."""

    def connect(self, first: int) -> "subprocess.Popen[bytes] | None":
        """Give the namespaces of this process, which waits at the gate, their network; the process that carries it."""

    def publish(self) -> bool:
        """Let others find it, if it is to be found by now; whether that is done."""

    def leave(self) -> None:
        """After the last of its processes."""
