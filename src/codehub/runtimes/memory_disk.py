"""What is not only remembered: the homes' folders, so that jobs can move real bytes, and the jobs' processes."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import weakref
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from signal import SIGKILL, Signals

from codehub.job.order import Kind, encode_order
from codehub.job.progress import Stage
from codehub.runtimes.in_memory import in_memory
from codehub.runtimes.local.process import PROC, STATE, stat_fields
from codehub.runtimes.protocols import Job, JobSpec, JobState

SIGNALLED = 128
GONE_SECONDS = 10.0
LOOK_SECONDS = 0.002
STOPPED = "T"
GROUP = 2
"""Its place in /proc/PID/stat, beside that of the state."""


@dataclass(frozen=True, slots=True)
class Trip:
    """Where the next job of this kind is held (SIGSTOP) or killed (SIGKILL): when it has told of a stage, or its
    `result` (`memory_job.py`)."""

    kind: Kind
    at: Stage | str
    signal: Signals


class JobProcess:
    """A job with the label of the installation that owns it. It is a group of processes, and ends as a whole."""

    def __init__(self, installation: str, spec: JobSpec, home: Path, log: Path, trip: Trip | None) -> None:
        self.installation = installation
        self.spec = spec
        self.log = log
        kind = spec.order.kind
        tripped = [trip.at, str(int(trip.signal))] if trip else []
        with in_memory(encode_order(replace(spec.order, home=home))) as order, log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "codehub.runtimes.memory_job", kind, "/dev/stdin", *tripped],
                stdin=order,
                stdout=output,
                env={"PATH": os.environ.get("PATH", os.defpath)},
                start_new_session=True,
            )

    @property
    def seen(self) -> Job:
        spec, status = self.spec, self._process.poll()
        state = JobState.RUNNING if status is None else JobState.ENDED
        code = SIGNALLED - status if status is not None and status < 0 else status
        return Job(spec.name, spec.workspace_id, spec.op_id, spec.epoch, spec.volume, state, code)

    @property
    def is_held(self) -> bool:
        """Whether it has stopped. Between its word and its stop it may lose its turn for long: whoever released it then
        would hold it for ever."""
        with suppress(OSError):
            return stat_fields(self._process.pid)[STATE] == STOPPED
        return False

    def send(self, signal: Signals) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal)

    def end(self) -> None:
        """Kill it, and wait until nothing of it is left."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, SIGKILL)
        self._process.wait()
        deadline = time.monotonic() + GONE_SECONDS
        while _lives(self._process.pid):
            if time.monotonic() > deadline:
                raise TimeoutError(f"the job {self.spec.name} does not end")
            time.sleep(LOOK_SECONDS)


class MemoryDisk:
    """Folders are made when they are first asked for: most homes in memory are never looked into. All goes with the
    disk."""

    def __init__(self) -> None:
        self.jobs: dict[str, JobProcess] = {}
        self._root: Path | None = None
        self._made = 0

    def home(self, name: str) -> Path:
        """The folder of a home, wherever it is held to be."""
        folder = self._folder() / "homes" / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def used_bytes(self, name: str) -> int:
        folder = self._root / "homes" / name if self._root else None
        return sum(each.lstat().st_size for each in folder.rglob("*") if each.is_file()) if folder else 0

    def remove_home(self, name: str) -> None:
        if self._root:
            shutil.rmtree(self._root / "homes" / name, ignore_errors=True)

    def begin(self, installation: str, spec: JobSpec, trip: Trip | None) -> None:
        self._made += 1
        log = self._folder() / f"job-{self._made}.log"
        self.jobs[spec.name] = JobProcess(installation, spec, self.home(spec.volume), log, trip)

    def remove_job(self, name: str) -> None:
        self.jobs[name].end()
        del self.jobs[name]

    def clear(self) -> None:
        for name in list(self.jobs):
            self.remove_job(name)
        if self._root:
            shutil.rmtree(self._root / "homes", ignore_errors=True)

    def _folder(self) -> Path:
        if self._root is None:
            self._root = Path(tempfile.mkdtemp(prefix="codehub-memory-"))
            weakref.finalize(self, _leave, self.jobs, self._root)
        return self._root


def _leave(jobs: dict[str, JobProcess], root: Path) -> None:
    for job in jobs.values():
        job.end()
    shutil.rmtree(root, ignore_errors=True)


def _lives(group: int) -> bool:
    """Whether a process of this group runs. One that nobody has reaped yet does not."""
    for folder in PROC.glob("[0-9]*"):
        with suppress(OSError):
            fields = stat_fields(int(folder.name))
            if int(fields[GROUP]) == group and fields[STATE] not in "ZX":
                return True
    return False
