"""What an instance prints, kept up to a size: the newest part, and the one before it."""

import os
from collections import deque
from contextlib import suppress
from io import FileIO
from pathlib import Path

from codehub.runtimes.local.records import LOG


class Log:
    """Written by one shim. When a part is full it takes the place of the older one."""

    def __init__(self, folder: Path, part_bytes: int) -> None:
        self._path = folder / LOG
        self._part_bytes = part_bytes
        self._file = self._open()

    def write(self, piece: bytes) -> None:
        """What does not find room on the disk is lost: words, not the workspace."""
        with suppress(OSError):
            if self._file.tell() + len(piece) > self._part_bytes:
                self._path.rename(older(self._path))
                self._file.close()
                self._file = self._open()
            self._file.write(piece)

    def _open(self) -> FileIO:
        """Every piece is in the file when `write` returns: a killed shim takes no last words with it."""
        return FileIO(self._path, "a", opener=lambda name, flags: os.open(name, flags, 0o600))


def older(path: Path) -> Path:
    return path.with_name(f"{path.name}.1")


class Reading:
    """A way through the log of one instance, as far as it was read. Blocks."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOG
        self._file_number = 0
        self._at = 0

    def last_lines(self, count: int) -> list[bytes]:
        """The newest lines, across both parts."""
        lines: deque[bytes] = deque(maxlen=count)
        for path in (older(self._path), self._path):
            lines.extend(self._rest(path, 0).splitlines(keepends=True))
        return list(lines)

    def more(self) -> bytes:
        """What was printed since. A part that became full meanwhile is read to its end first."""
        if self._file_number == _number(self._path):
            return self._rest(self._path, self._at)
        last = self._rest(older(self._path), self._at) if self._file_number == _number(older(self._path)) else b""
        return last + self._rest(self._path, 0)

    def _rest(self, path: Path, start: int) -> bytes:
        try:
            with path.open("rb") as file:
                file.seek(start)
                found = file.read()
                self._file_number, self._at = os.fstat(file.fileno()).st_ino, file.tell()
                return found
        except FileNotFoundError:
            return b""


def _number(path: Path) -> int:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0
