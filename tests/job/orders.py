"""Give orders to jobs, as a controller does: in this process, or to a process of its own."""

import io
import json
import os
import subprocess
import sys
import uuid
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from codehub.job.faults import ExitCode
from codehub.job.marker import Totals, parse_totals
from codehub.job.order import DirectoryPlace, Kind, Limits, Order, Proof, S3Place, encode_order
from codehub.job.progress import Progress
from codehub.job.run import JOBS

NAME = "home.tar.zst"
SECONDS = 120


class Changes(TypedDict, total=False):
    """What a test may want otherwise in its order."""

    workspace_id: str
    expected: Totals
    proof: Proof
    limits: Limits
    place: DirectoryPlace | S3Place


@dataclass(frozen=True)
class Outcome:
    """How a job ended, by what it has told."""

    exit_code: int
    lines: list[dict[str, Any]]

    @property
    def totals(self) -> Totals:
        assert self.exit_code == ExitCode.DONE, self.lines
        return parse_totals(self.lines[-1]["result"])

    @property
    def message(self) -> str:
        return str(self.lines[-1]["message"])


@dataclass(frozen=True)
class Desk:
    """Orders for one archive. `folder` is the test's own; the order's file lies there."""

    folder: Path
    place: DirectoryPlace | S3Place
    workspace_id: str = field(default_factory=lambda: uuid.uuid4().hex)

    def order(self, kind: Kind, home: Path, **changes: Unpack[Changes]) -> Order:
        order = Order(kind, f"{self.workspace_id}/archive/{NAME}", self.workspace_id, "1.2.3", home, self.place)
        return replace(order, **changes)

    def do(self, kind: Kind, home: Path, **changes: Unpack[Changes]) -> Totals:
        """In this process, which is quicker; raises the JobFault."""
        return JOBS[kind](self.order(kind, home, **changes), Progress(io.StringIO()))

    def begin(self, kind: Kind, home: Path, **changes: Unpack[Changes]) -> "subprocess.Popen[str]":
        """As a process of its own; its path may have been prepared with other programs."""
        file = self.folder / f"order-{uuid.uuid4().hex}.json"
        file.write_bytes(encode_order(self.order(kind, home, **changes)))
        return subprocess.Popen(
            [sys.executable, "-m", "codehub.job", kind, str(file)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"},
        )

    def run(self, kind: Kind, home: Path, **changes: Unpack[Changes]) -> Outcome:
        with self.begin(kind, home, **changes) as job:
            return ended(job)


def ended(job: "subprocess.Popen[str]") -> Outcome:
    said, complaint = job.communicate(timeout=SECONDS)
    assert "Traceback" not in complaint, complaint
    return Outcome(job.returncode, [json.loads(line) for line in said.splitlines()])


def desk_in(folder: Path) -> Desk:
    """With an archive folder below this one."""
    archive = folder / "archive"
    archive.mkdir()
    return Desk(folder, DirectoryPlace(archive))


def fresh(folder: Path, name: str = "restored") -> Path:
    target = folder / name
    target.mkdir()
    return target
