"""A whole codehub for a test: its own data folder and port, driven by the command, as a person would."""

import json
import os
import signal
import subprocess
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codehub.stack.postgres import database_url
from tests.folders import remove_seaweedfs_sockets, short_folder

COMMAND = str(Path(sysconfig.get_path("scripts")) / "codehub")
NOBODY = 65534


def _listen_to_interrupts() -> None:
    """A process that a shell started in the background ignores them, and so would all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@dataclass(frozen=True)
class Installation:
    folder: Path
    data: Path
    environment: dict[str, str]
    run_as: Sequence[str] = field(default=())

    @contextmanager
    def start(self, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
        """The command as a process, which does not outlive the block."""
        process = subprocess.Popen(
            [*self.run_as, COMMAND, *arguments],
            cwd=self.folder,
            env=self.environment | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=_listen_to_interrupts,  # noqa: PLW1509 (no threads here)
        )
        with process:
            try:
                yield process
            finally:
                process.kill()

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        with self.start(*arguments, **environment) as process:
            out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def up(self, *arguments: str, **environment: str) -> str:
        """Start it in the background and return what it said."""
        started = self.run("up", "--detach", *arguments, **environment)
        assert started.returncode == 0, started.stderr
        return started.stdout

    def down(self) -> None:
        stopped = self.run("down")
        assert stopped.returncode == 0, stopped.stderr

    def state(self) -> dict[str, Any]:
        """What the supervisor last wrote about itself, as `codehub status` would show it."""
        state: dict[str, Any] = json.loads((self.data / "state.json").read_text())
        return state

    def part(self, name: str) -> dict[str, Any]:
        return next(part for part in self.state()["parts"] if part["name"] == name)

    @property
    def url(self) -> str:
        return str(self.state()["url"])

    @property
    def pid(self) -> int:
        return int(self.state()["pid"])

    @property
    def credentials(self) -> dict[str, str]:
        found: dict[str, str] = json.loads((self.data / "credentials.json").read_text())
        return found

    @property
    def database_url(self) -> str:
        return database_url(self.data / "run/postgres", self.credentials["postgres"])

    @property
    def redis_url(self) -> str:
        return f"unix://:{self.credentials['valkey']}@{self.data}/run/valkey/valkey.sock"

    def kill(self, name: str) -> float:
        """Kill a part without warning; the seconds until its successor is ready."""
        victim = self.part(name)["pid"]
        began = time.monotonic()
        os.kill(victim, signal.SIGKILL)
        until(lambda: self.part(name)["state"] == "ready" and self.part(name)["pid"] not in {victim, None}, seconds=60)
        return time.monotonic() - began


@contextmanager
def installation(*, ordinary_user: bool = False) -> Iterator[Installation]:
    """A folder of its own, and whatever still runs in it killed at the end."""
    drop = ordinary_user and os.geteuid() == 0
    run_as = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--") if drop else ()
    with short_folder() as folder:
        if drop:
            os.chown(folder, NOBODY, NOBODY)
        data = folder / "data"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "CODEHUB_DATA_DIR": str(data),
            "CODEHUB_LISTEN": "127.0.0.1:0",
            "RUNTIME": "local",  # no engine's business, and nobody waits here for an IDE to be compiled
            "RUNTIME_PREPARE": "false",
            "PROXY_PROCESSES": "1",
        }
        try:
            yield Installation(folder, data, environment, run_as)
        finally:
            _kill_what_runs(data)


def _kill_what_runs(data: Path) -> None:
    """The supervisor's end is the end of all its parts, so only that one is killed; then the folder is free."""
    try:
        state = json.loads((data / "state.json").read_text())
    except FileNotFoundError:
        return
    pids = [state["pid"], *(part["pid"] for part in state["parts"] if part["pid"])]
    try:
        os.kill(state["pid"], signal.SIGKILL)
    except ProcessLookupError:
        return
    until(lambda: not any(map(is_alive, pids)), seconds=60)
    if (data / "ports.json").exists():
        remove_seaweedfs_sockets(json.loads((data / "ports.json").read_text()).values())


def is_alive(pid: int) -> bool:
    """Whether the process still does anything: a dead one whose parent has not looked yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def until(condition: Callable[[], bool], *, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.02)
