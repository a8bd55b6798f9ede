"""The codehub that runs on a data folder: it holds a lock for as long as it lives, and a file says how it is."""

import fcntl
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from codehub.errors import CodehubError
from codehub.stack.account import current_account
from codehub.stack.data_folder import DataFolder
from codehub.stack.parts import PartStatus

LOCK_PATIENCE_SECONDS = 0.5  # others hold it for an instant, to see whether it is free
STATE_PATIENCE_SECONDS = 15.0  # between taking the lock and the first word about itself there are only moments


class AlreadyRunning(CodehubError):
    """Another supervisor works on this data folder."""


@dataclass(frozen=True)
class Restarted:
    """How often the supervisor was asked to replace what answers, the last of these that is over, and how it failed."""

    asked: int = 0
    done: int = 0
    failure: str = ""


@dataclass(frozen=True)
class Running:
    """What the running supervisor last wrote about itself."""

    pid: int
    born: int  # the kernel's start time of that process: process ids are used again
    since: str
    url: str
    ready: bool
    parts: Sequence[dict[str, Any]]
    restarts: dict[str, Any] | None = None
    """As `Restarted`; None if that supervisor is older than restarts are, and would die of being asked."""

    @property
    def is_alive(self) -> bool:
        return _born(self.pid) == self.born


@contextmanager
def hold_lock(folder: DataFolder) -> Iterator[None]:
    """Be the one supervisor of this folder. The kernel gives the lock back however this process ends."""
    with folder.lock.open("a") as file:
        deadline = time.monotonic() + LOCK_PATIENCE_SECONDS
        while not _lock(file.fileno()):
            if time.monotonic() > deadline:
                raise AlreadyRunning(f"Another codehub is running on {folder.path}.", "See: codehub status")
            time.sleep(0.02)
        try:
            yield
        finally:
            folder.state.unlink(missing_ok=True)


def is_locked(folder: DataFolder) -> bool:
    try:
        with folder.lock.open("r") as file:
            return not _lock(file.fileno())
    except FileNotFoundError:
        return False


def find_running(folder: DataFolder) -> Running | None:
    """The codehub that runs on this folder. One that is just starting or ending is waited for, for a moment."""
    deadline = time.monotonic() + STATE_PATIENCE_SECONDS
    while is_locked(folder):
        if (state := read_state(folder)) is not None and state.is_alive:
            return state
        if time.monotonic() > deadline:
            raise CodehubError(
                f"A codehub runs on {folder.path}, but does not say how it is.", f"Its log is {folder.supervisor_log}"
            )
        time.sleep(0.05)
    return None


def read_state(folder: DataFolder) -> Running | None:
    try:
        return Running(**json.loads(folder.state.read_text()))
    except (FileNotFoundError, TypeError, ValueError):
        return None


def write_state(
    folder: DataFolder, since: datetime, url: str, parts: Sequence[PartStatus], restarts: Restarted, *, ready: bool
) -> None:
    pid = os.getpid()
    described = [asdict(part) | {"since": part.since.isoformat()} for part in parts]
    state = Running(pid, _born(pid) or 0, since.isoformat(), url, ready, described, asdict(restarts))
    current_account().write_private(folder.state, json.dumps(asdict(state)))


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _born(pid: int) -> int | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return int(stat.rpartition(")")[2].split()[19])
