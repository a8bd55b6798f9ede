"""Run tar and zstd as the stages of a pipe, and let none of them fail unnoticed."""

import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from errno import EDQUOT, ENOSPC
from pathlib import Path
from typing import IO

from codehub.job.faults import JobFault, NoSpace, TryAgain

PIPE_BYTES = 1024 * 1024  # the most that an ordinary user may have; fewer trips for everybody
_WORDS_BYTES = 4096
_TOTAL = re.compile(rb"^Total bytes written: (\d+).*\n", re.MULTILINE)
_FULL = tuple(os.strerror(number) for number in (ENOSPC, EDQUOT))

# Sparse files, attributes, access lists, numbers for owners; see docs/archive-format.md, which a test follows.
TAR = ("--xattrs", "--xattrs-include=user.*", "--acls", "--numeric-owner")
TAR_CREATE = (
    "tar", "--create", "--file=-", "--sparse", *TAR, "--format=posix", "--pax-option=delete=atime,delete=ctime",
    "--blocking-factor=128", "--totals", "--no-recursion", "--null", "--verbatim-files-from", "--files-from=-",
)  # fmt: skip
TAR_EXTRACT = (
    "tar", "--extract", "--file=-", *TAR, "--same-permissions", "--delay-directory-restore", "--warning=no-timestamp",
)  # fmt: skip
TAR_COMPARE = ("tar", "--compare", "--file=-", "--numeric-owner")


def zstd_compress(level: int) -> tuple[str, ...]:
    """Four threads at most: each takes memory, and a job has no more cores to itself."""
    return ("zstd", "--quiet", "--check", f"-{level}", f"-T{min(4, len(os.sched_getaffinity(0)))}", "--stdout")


ZSTD_DECOMPRESS = ("zstd", "--quiet", "--decompress", "--stdout")


class Program:
    """A stage that runs. Its standard input and output are pipes of ours, its last words are kept."""

    def __init__(
        self, argv: Sequence[str], folder: Path | None = None, *, source: "Program | None" = None, silent: bool = False
    ) -> None:
        """In this folder, reading what the source writes, or else what is written to its `input`."""
        self.name = argv[0]
        if shutil.which(self.name) is None:
            raise JobFault(f"The program {self.name} is not installed.")
        self._process = subprocess.Popen(
            argv,
            stdin=source.output if source else subprocess.PIPE,
            stdout=subprocess.DEVNULL if silent else subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},  # none of TAR_OPTIONS, ZSTD_CLEVEL ...
            pipesize=PIPE_BYTES,
            bufsize=0,
        )
        if source:
            source.output.close()  # the reader is the only one now, and the source notices its end
        self._words = b""
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def input(self) -> IO[bytes]:
        assert self._process.stdin is not None  # noqa: S101  # a pipe, see above
        return self._process.stdin

    @property
    def output(self) -> IO[bytes]:
        assert self._process.stdout is not None  # noqa: S101  # a pipe, see above
        return self._process.stdout

    def status(self) -> int:
        """Wait until it has ended; raises TryAgain where it was killed, which says nothing of its work."""
        status = self._process.wait()
        self._listener.join()
        if status < 0:
            raise TryAgain(f"{self.name} was ended by {signal.Signals(-status).name}.")
        return status

    def written(self) -> int:
        """How many bytes it has written so far, as the kernel counts them; 0 where that cannot be seen."""
        with suppress(OSError):
            counted = re.search(r"^wchar: (\d+)$", Path(f"/proc/{self._process.pid}/io").read_text(), re.MULTILINE)
            return int(counted[1]) if counted else 0
        return 0

    def total(self) -> int:
        """How many bytes tar says at its end that it has written."""
        if (said := _TOTAL.search(self._words)) is None:
            raise self.fault()
        return int(said[1])

    def fault(self) -> JobFault:
        """What its last words mean. A program has no other way to say why it failed than in words."""
        words = _TOTAL.sub(b"", self._words).decode(errors="backslashreplace").strip()
        if any(full in words for full in _FULL):
            return NoSpace(f"There is no room left ({words.splitlines()[-1]}).")
        return JobFault(f"{self.name} failed: {words[-1000:] or 'it does not say why'}")

    def kill(self) -> None:
        """End it, whatever it does, so that nobody waits for it. Harmless after its end."""
        self._process.kill()

    def close(self) -> None:
        """The same, and leave nothing of it open; once no other thread reads or writes it."""
        self._process.kill()
        self._process.wait()
        self._listener.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def _listen(self) -> None:
        assert self._process.stderr is not None  # noqa: S101  # a pipe, see above
        while said := self._process.stderr.read(_WORDS_BYTES):
            self._words = (self._words + said)[-_WORDS_BYTES:]


def write_all(pipe: IO[bytes], data: bytes) -> None:
    """A raw pipe takes what it has room for; the rest is ours to send."""
    sent = pipe.write(data)
    while sent < len(data):
        sent += pipe.write(memoryview(data)[sent:])
