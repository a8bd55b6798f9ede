"""The job program as the remembered runtime starts it: the real one, and it can be held or killed exactly where it
tells of a stage. `python -m codehub.runtimes.memory_job KIND ORDER [AT SIGNAL]`."""

import json
import os
import sys
from io import TextIOBase
from typing import TextIO

from codehub.job.run import main

RESULT = "result"
"""Where a job has told its result, and has yet to exit."""


class Tripped(TextIOBase):
    """Standard output on which one line, once it is written, sends a signal to the job."""

    def __init__(self, output: TextIO, at: str, signal: int) -> None:
        self._output = output
        self._at = at
        self._signal = signal

    def write(self, line: str) -> int:
        self._output.write(line)
        self._output.flush()
        said = json.loads(line)
        if self._at in (said.get("stage"), *said):
            self._at = ""
            os.kill(os.getpid(), self._signal)
        return len(line)


if __name__ == "__main__":
    arguments, trip = sys.argv[1:3], sys.argv[3:]
    if trip:
        sys.stdout = Tripped(sys.stdout, trip[0], int(trip[1]))
    sys.exit(main(arguments))
