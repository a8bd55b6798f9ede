"""Starting and ending the shims behind workspaces and jobs, each in a folder of its own."""

import asyncio
import fcntl
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

from codehub.runtimes.errors import RuntimeFault
from codehub.runtimes.local.process import all_gone
from codehub.runtimes.local.records import LOCK, SHIM_LOG, Life

LOOK_SECONDS = 0.02
BIRTH_SECONDS = 10.0
"""How long a shim that another codehub starts may take to say that it lives."""
DEATH_SECONDS = 10.0
"""How long a killed sandbox may take to be gone, on a machine that is short of everything."""
LAST_SECONDS = 1.0
"""The same for what a killed shim had no time to tell of."""
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def take(lock: IO[str], folder: Path) -> bool:
    """Get the lock that makes a shim the only one. False where one lives; another's that begins is waited for."""
    deadline = time.monotonic() + BIRTH_SECONDS
    while not _locked(lock):
        life = Life.look(folder)
        if life and life.shim.alive():
            return False
        if time.monotonic() > deadline:
            raise RuntimeFault(f"{folder.name} is held by somebody who does not start it")
        time.sleep(LOOK_SECONDS)
    if not _names(folder / LOCK, lock):
        raise RuntimeFault(f"{folder.name} was stopped while it was started")
    return True


def bury(folder: Path) -> None:
    """Wait for what is left of an earlier life, whose shim is dead."""
    life = Life.look(folder)
    if life and not all_gone(life.processes, DEATH_SECONDS):
        raise RuntimeFault(f"the remains of {folder.name} do not end")


def launch(module: str, folder: Path, lock: int, given: int = subprocess.DEVNULL) -> None:
    """In a session of its own, with an environment that tells it nothing of codehub's; `given` is its standard input.
    Back when it lives."""
    with (folder / SHIM_LOG).open("wb") as errors:
        started = subprocess.run(
            [sys.executable, "-I", "-m", module, str(folder)],
            stdin=given,
            stdout=errors,
            stderr=errors,
            cwd="/",
            env={"PATH": SYSTEM_PATH, "LC_ALL": "C.UTF-8"},
            pass_fds=[lock],
            start_new_session=True,
            check=False,
        )
    if started.returncode != 0:
        raise RuntimeFault(f"the shim of {folder.name} did not start: {(folder / SHIM_LOG).read_text()[-500:]}")


async def gone(life: Life, seconds: float) -> bool:
    """Wait for all of it to be gone, this long at most; whether it is."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while life.alive():
                await asyncio.sleep(LOOK_SECONDS)
            return True
    return False


def require_gone(folder: Path, lock: IO[str]) -> None:
    """Nothing of it runs, and nobody can start it again while the lock is open. Its shim may have told of more
    processes since it was asked to end."""
    life = Life.look(folder)
    if not _locked(lock) or (life and not all_gone(life.processes, LAST_SECONDS)):
        raise RuntimeFault(f"{folder.name} does not end, or was started again")


def _locked(file: IO[str]) -> bool:
    """Whether the file is locked now, by us."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _names(path: Path, file: IO[str]) -> bool:
    """Whether the path still stands for the open file: one who waited for a lock may hold it on what is thrown away."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
