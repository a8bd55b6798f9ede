"""What a build says while it runs, read into steps that a person can follow."""

import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

STEP = re.compile(r"^Step (\d+)/(\d+) : (.*)")
STAGE = re.compile(r"^FROM \S+(?: AS (\S+))?", re.IGNORECASE)
CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
KEPT_LINES = 40


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a build is: the stage, the step of how many, and the last line that was said."""

    stage: str
    step: int = 0
    steps: int = 0
    doing: str = ""
    line: str = ""


Report = Callable[[Progress], None]


class BuildLog:
    """Follows one build's messages. Keeps the last lines, which say why when it fails."""

    def __init__(self, stage: str, report: Report) -> None:
        self.now = Progress(stage)
        self.tail: deque[str] = deque(maxlen=KEPT_LINES)
        self._report = report

    def read(self, message: Mapping[str, Any]) -> None:
        """Take in one message of the engine. Most end a line, some hold several, few say nothing to a person."""
        for raw in str(message.get("stream") or message.get("status") or "").splitlines():
            line = CONTROL.sub("", raw).strip()
            if line:
                self._line(line)

    def _line(self, line: str) -> None:
        self.tail.append(line)
        if (found := STEP.match(line)) is not None:
            number, total, doing = int(found[1]), int(found[2]), found[3]
            stage = STAGE.match(doing)
            name = self.now.stage if stage is None else stage[1] or "image"
            self.now = Progress(name, number, total, doing)
        else:
            self.now = replace(self.now, line=line)
        self._report(self.now)
