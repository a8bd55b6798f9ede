"""What a service is to the supervisor, and how one becomes a process that cannot outlive it."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from codehub.stack.account import SYSTEM_PATH, Account
from codehub.telemetry.health import Check

# Started by setpriv, after the death signal is set: if the supervisor died before that, nobody would ever send it.
_UNLESS_ORPHANED = '[ "$PPID" = "$0" ] && exec "$@"'


class Service(Protocol):
    """A program that codehub runs. It stays in the foreground, so that its parent sees it die."""

    @property
    def name(self) -> str: ...

    @property
    def account(self) -> Account: ...

    @property
    def folder(self) -> Path:
        """Where it runs."""

    @property
    def log(self) -> Path: ...

    @property
    def stop_signal(self) -> signal.Signals:
        """Asks it to end with everything saved."""

    @property
    def stop_seconds(self) -> float:
        """How long it may take to do so, before it is killed."""

    @property
    def death_signal(self) -> signal.Signals:
        """Ends it at once, sent by the kernel when the supervisor dies."""

    @property
    def inherited(self) -> Sequence[int]:
        """File descriptors that it is handed."""

    def prepare(self) -> None:
        """Make what it needs on disk, or raise a CodehubError. Called before every start; blocks; safe to repeat."""

    def argv(self) -> Sequence[str]: ...

    def environment(self) -> Mapping[str, str]: ...

    async def check(self) -> Check:
        """Use it once, as codehub will, and say whether that worked."""


def launch(service: Service) -> subprocess.Popen[bytes]:
    """Start the service in a session of its own (Ctrl-C is for the supervisor alone), its output going to its log.

    The kernel ties the death signal to the calling thread: call this from the main thread, which lives longest.
    """
    with service.log.open("ab") as log:
        return subprocess.Popen(
            _bound_to_us(service.argv(), service.account, service.death_signal),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=service.folder,
            env={"PATH": SYSTEM_PATH, "LC_ALL": "C.UTF-8", **service.environment()},
            pass_fds=service.inherited,
            start_new_session=True,
        )


def run_once(argv: Sequence[str], account: Account, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a helper program to its end as the account."""
    return subprocess.run(
        _bound_to_us(argv, account, signal.SIGKILL),
        cwd=folder,
        env={"PATH": SYSTEM_PATH, "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def _bound_to_us(argv: Sequence[str], account: Account, death: signal.Signals) -> list[str]:
    """The command that becomes `argv` under the account, dying with this process.

    setpriv sets the death signal last: a change of user would clear it.
    """
    become = [f"--reuid={account.uid}", f"--regid={account.gid}", "--clear-groups", "--no-new-privs"]
    guard = ["/bin/sh", "-c", _UNLESS_ORPHANED, str(os.getpid())]
    return ["setpriv", *(become if account.is_other else []), f"--pdeathsig={death.name}", "--", *guard, *argv]


async def ended(process: subprocess.Popen[bytes]) -> int:
    """Wait for the process to end and reap it: PostgreSQL takes a dead but unreaped postmaster for a running one."""
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    pidfd = os.pidfd_open(process.pid)
    loop.add_reader(pidfd, over.set)
    try:
        await over.wait()
    finally:
        loop.remove_reader(pidfd)
        os.close(pidfd)
    return process.wait()
