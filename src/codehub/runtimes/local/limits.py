"""What keeps a workspace from using more than its share: as root control groups, else what one process can be held to.

Only control groups limit a workspace as a whole. Without them each of its processes is limited by itself. RLIMIT_DATA
serves for memory there: RLIMIT_AS would end Node.js at once, which reserves address space by the gigabyte and never
touches most of it. RLIMIT_NPROC counts per user namespace since Linux 5.14, so that a workspace's processes are not
counted together with the user's own; on older kernels it is left alone."""

import os
import platform
import re
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codehub.runtimes.protocols import Stats

ROOT = Path("/sys/fs/cgroup")
PARENT = "codehub"
PARENT_OF_JOBS = "codehub-jobs"
"""Of its own, because a group competes with its neighbours only: the least among workspaces would still be as much as
every service of the host has."""
CONTROLLERS = ("memory", "cpu", "pids")
PERIOD_MICROSECONDS = 100_000
OWN_PIDS = 4
"""Processes that keep the workspace going and are counted with it."""
EMPTY_SECONDS = 5.0
MAKE_TRIES = 3
LEAST = {"cpu.weight": "2", "cpu.shares": "16"}
"""Of 100, in version 1 of 1024, that others have: as with nice 19. With less a restore would never end where all are
busy."""
NOT_EVERYWHERE = ("memory.swap.max", "memory.memsw.limit_in_bytes")
"""Not every kernel counts swap."""


@dataclass(frozen=True, slots=True)
class Group:
    """One workspace's control group; in version 1 a folder per controller, in version 2 one for all."""

    name: str
    parent: str = PARENT

    def make(self, memory_bytes: int, cpus: float | None, pids: int) -> None:
        """Without a number of processors it may have those that nobody else wants. Whoever leaves as the last removes
        the folder around all groups, maybe just now: then it is made again."""
        for _ in range(MAKE_TRIES - 1):
            with suppress(FileNotFoundError):
                return self._make(memory_bytes, cpus, pids)
        return self._make(memory_bytes, cpus, pids)

    def _make(self, memory_bytes: int, cpus: float | None, pids: int) -> None:
        if unified():
            for parent in (ROOT, ROOT / self.parent):
                parent.mkdir(exist_ok=True)
                (parent / "cgroup.subtree_control").write_text(" ".join(f"+{each}" for each in CONTROLLERS))
        for folder in self._folders():
            folder.mkdir(parents=True, exist_ok=True)
        for (controller, file), value in _settings(memory_bytes, cpus, pids).items():
            path = self._folder(controller) / file
            if path.exists() or file not in NOT_EVERYWHERE:
                path.write_text(value)
        if cpus is None:
            file = "cpu.weight" if unified() else "cpu.shares"
            for folder in (self._folder("cpu"), self._folder("cpu").parent):
                (folder / file).write_text(LEAST[file])

    def add(self, pid: int) -> None:
        for folder in self._folders():
            (folder / "cgroup.procs").write_text(str(pid))

    def out_of_memory(self) -> bool:
        """Whether a process of it was killed because the whole had reached its limit."""
        file = "memory.events" if unified() else "memory.oom_control"
        return bool(int(self._numbers("memory", file).get("oom_kill", 0)))

    def stats(self) -> Stats | None:
        """None where there is no such group."""
        if not self._folder("memory").is_dir():
            return None
        if unified():
            seconds = self._numbers("cpu", "cpu.stat")["usage_usec"] / 1e6
            used, limit, cache = "memory.current", "memory.max", "inactive_file"
        else:
            seconds = self._number("cpuacct", "cpuacct.usage") / 1e9
            used, limit, cache = "memory.usage_in_bytes", "memory.limit_in_bytes", "total_inactive_file"
        return Stats(
            cpu_seconds=seconds,
            memory_bytes=max(self._number("memory", used) - self._numbers("memory", "memory.stat")[cache], 0),
            memory_limit_bytes=self._number("memory", limit),
            pids=self._number("pids", "pids.current"),
        )

    def remove(self) -> None:
        """Kill whoever is left in it, and remove it; the one above too, when this was the last. Blocks."""
        for folder in self._folders():
            deadline = time.monotonic() + EMPTY_SECONDS
            while folder.exists():
                try:
                    folder.rmdir()
                except OSError:
                    if time.monotonic() > deadline:
                        raise
                    self._kill(folder)
                    time.sleep(0.01)
            with suppress(OSError):
                folder.parent.rmdir()

    def _kill(self, folder: Path) -> None:
        with suppress(OSError):
            for pid in (folder / "cgroup.procs").read_text().split():
                with suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)

    def _folders(self) -> list[Path]:
        return [self._folder("")] if unified() else [self._folder(each) for each in (*CONTROLLERS, "cpuacct")]

    def _folder(self, controller: str) -> Path:
        return (ROOT if unified() else ROOT / controller) / self.parent / self.name

    def _number(self, controller: str, file: str) -> int:
        return int((self._folder(controller) / file).read_text())

    def _numbers(self, controller: str, file: str) -> dict[str, int]:
        lines = (self._folder(controller) / file).read_text().splitlines()
        return {name: int(value) for name, value in (line.split() for line in lines)}


def unified() -> bool:
    """Whether this machine has version 2 for all controllers."""
    return (ROOT / "cgroup.controllers").exists()


def groups_obstacle() -> str | None:
    """Why there can be no control groups here; None where there can."""
    if os.geteuid() != 0:
        return "codehub does not run as root"
    for controller in CONTROLLERS:
        folder = ROOT if unified() else ROOT / controller
        if not os.access(folder / "cgroup.procs", os.W_OK):
            return f"{folder} is not there or cannot be written"
    return None


def processes_counted_by_sandbox() -> bool:
    release = re.match(r"(\d+)\.(\d+)", platform.release())
    return release is not None and (int(release[1]), int(release[2])) >= (5, 14)


def command(memory_bytes: int, pids: int) -> list[str]:
    """The beginning of a command that is held to what can be held to without control groups. To be run inside of the
    workspace's user namespace."""
    limits = ["--core=0"]
    if processes_counted_by_sandbox():
        limits.append(f"--nproc={pids + OWN_PIDS}")
    if groups_obstacle() is not None:
        limits.append(f"--data={memory_bytes}")
    return ["prlimit", *limits, "--"]


def _settings(memory_bytes: int, cpus: float | None, pids: int) -> dict[tuple[str, str], str]:
    """What to write into which file of which controller. Nobody gets swap: it would only make the end slow."""
    most_pids = str(pids + OWN_PIDS)
    if unified():
        return {
            ("memory", "memory.max"): str(memory_bytes),
            ("memory", "memory.swap.max"): "0",
            ("pids", "pids.max"): most_pids,
            **_processors(cpus),
        }
    return {
        ("memory", "memory.limit_in_bytes"): str(memory_bytes),
        ("memory", "memory.memsw.limit_in_bytes"): str(memory_bytes),  # memory and swap together
        ("pids", "pids.max"): most_pids,
        **_processors(cpus),
    }


def _processors(cpus: float | None) -> dict[tuple[str, str], str]:
    if cpus is None:
        return {}
    quota = str(int(cpus * PERIOD_MICROSECONDS))
    return {("cpu", "cpu.max"): f"{quota} {PERIOD_MICROSECONDS}"} if unified() else {("cpu", "cpu.cfs_quota_us"): quota}
