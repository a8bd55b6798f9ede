"""A process that can be found again by a later codehub, and is never mistaken for another one."""

import os
import signal
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
BOOT_ID = PROC / "sys/kernel/random/boot_id"
LOOK_SECONDS = 0.01
STATE, PARENT, START_TIME = 0, 1, 19
"""Places in /proc/PID/stat behind the program's name, which may contain anything."""


@dataclass(frozen=True, slots=True)
class Process:
    """Pids are used again; a pid, the tick at which it started and the boot that the tick belongs to are not."""

    pid: int
    started: int
    boot: str

    @classmethod
    def of(cls, pid: int) -> "Process":
        return cls(pid, int(stat_fields(pid)[START_TIME]), BOOT_ID.read_text().strip())

    def alive(self) -> bool:
        """Whether it runs. One that nobody has reaped yet does not."""
        try:
            fields = stat_fields(self.pid)
        except OSError:
            return False
        return (
            fields[STATE] not in "ZX"
            and int(fields[START_TIME]) == self.started
            and BOOT_ID.read_text().strip() == self.boot
        )

    def send(self, number: signal.Signals) -> None:
        """Signal this very process; one that is gone is fine. The descriptor is opened before the look: whatever the
        look finds is what it stands for."""
        with suppress(ProcessLookupError):
            descriptor = os.pidfd_open(self.pid)
            try:
                if self.alive():
                    signal.pidfd_send_signal(descriptor, number)
            finally:
                os.close(descriptor)


def stat_fields(pid: int) -> list[str]:
    return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()


def all_gone(processes: Collection[Process], seconds: float) -> bool:
    """Wait for them to end, this long at most; whether they have. Blocks."""
    deadline = time.monotonic() + seconds
    while any(process.alive() for process in processes):
        if time.monotonic() > deadline:
            return False
        time.sleep(LOOK_SECONDS)
    return True


def children(pid: int) -> list[int]:
    return _children_of_all().get(pid, [])


def descendants(pid: int) -> list[int]:
    """The process and all below it. The first one of a pid namespace adopts every orphan in it, so none is missed."""
    known = _children_of_all()
    found = [pid]
    for each in found:
        found += known.get(each, ())
    return found


def _children_of_all() -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                found.setdefault(int(stat_fields(int(entry.name))[PARENT]), []).append(int(entry.name))
    return found
