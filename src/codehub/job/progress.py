"""Tell how far a job is: JSON, one object per line, the result or the fault last."""

import json
import time
from dataclasses import asdict
from enum import StrEnum
from typing import TextIO

from codehub.job.faults import JobFault
from codehub.job.marker import Totals

_EVERY_SECONDS = 0.5


class Stage(StrEnum):
    SURVEY = "survey"
    ARCHIVE = "archive"
    COMMIT = "commit"
    VERIFY = "verify"
    RESTORE = "restore"
    SYNC = "sync"


class Progress:
    """At most two lines a second, however often it is told something."""

    def __init__(self, output: TextIO) -> None:
        self._output = output
        self._stage = Stage.SURVEY
        self._began = self._told = 0.0
        self._total = 0

    def begin(self, stage: Stage, total: int = 0) -> None:
        """A stage begins; `total` is about how many bytes it will have, 0 if nobody knows."""
        self._stage, self._total = stage, total
        self._began, self._told = time.monotonic(), 0.0
        self.tell(0, 0)

    def tell(self, size: int, entries: int) -> None:
        now = time.monotonic()
        if now - self._told < _EVERY_SECONDS:
            return
        self._told = now
        rate = size / (now - self._began) if now > self._began else 0.0
        left = max(0, self._total - size)
        self._write(
            {
                "stage": self._stage,
                "bytes": size,
                "total": max(self._total, size),
                "entries": entries,
                "rate": round(rate),
                "eta": round(left / rate, 1) if rate and self._total else None,
            }
        )

    def done(self, totals: Totals) -> None:
        self._write({"result": asdict(totals)})

    def failed(self, fault: JobFault) -> None:
        self._write({"fault": fault.exit_code.name.lower(), "message": str(fault)})

    def _write(self, line: dict[str, object]) -> None:
        self._output.write(json.dumps(line) + "\n")
        self._output.flush()
