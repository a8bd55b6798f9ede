"""What an instance prints, kept up to a size: the newest part, and the one before it."""

import os
from collections import deque
from contextlib import suppress
from io import FileIO
from pathlib import Path

from codehub.runtimes.local.records import LOG

PART_BYTES = 1024**2


class Log:
    """Written by one shim. When a part is full it takes the place of the older one."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOG
        self._file = self._open()

    def write(self, piece: bytes) -> None:
        """What does not find room on the disk is lost: words, not the workspace."""
        with suppress(OSError):
            if self._file.tell() + len(piece) > PART_BYTES:
                self._path.rename(older(self._path))
                self._file.close()
                self._file = self._open()
            self._file.write(piece)

    def _open(self) -> FileIO:
        """Every piece is in the file when `write` returns: a killed shim takes no last words with it."""
        return FileIO(self._path, "a", opener=lambda name, flags: os.open(name, flags, 0o600))


def older(path: Path) -> Path:
    return path.with_name(f"{path.name}.1")


def last_lines(folder: Path, count: int) -> list[bytes]:
    """The newest lines, across both parts. Blocks."""
    lines: deque[bytes] = deque(maxlen=count)
    for path in (older(folder / LOG), folder / LOG):
        if path.exists():
            with path.open("rb") as file:
                lines.extend(file)
    return list(lines)
