"""What passed through one tunnel, kept to learn from: the streams in tests/proxy/activity/streams/ are such files.

A recording holds what people typed. It is made by `record.py` alone, of sessions that nobody works in.

An xz file: one line of JSON with the target of the upgrade, then for each piece of bytes its time in seconds, its
direction, its length, and the bytes as they passed.
"""

import json
import lzma
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

_PIECE = struct.Struct(">dBI")
_LONGEST_PIECE = 1 << 24
QUICK = 1
"""Of the ways to compress, the one that costs least."""


class Direction(IntEnum):
    FROM_CLIENT = 0
    FROM_SERVER = 1


@dataclass(frozen=True, slots=True)
class Piece:
    at: float
    direction: Direction
    data: bytes


class Recorder:
    """Writes one tunnel. It is compressed in the caller's thread: for finding out, not for every day."""

    def __init__(self, file: Path, target: bytes, began: float, preset: int = QUICK) -> None:
        self._began = began
        self._file = lzma.open(file, "wb", preset=preset)  # noqa: SIM115 - closed by `close`
        self._file.write(json.dumps({"target": target.decode("latin-1")}).encode() + b"\n")

    def write(self, direction: Direction, data: bytes | memoryview, now: float) -> None:
        self._file.write(_PIECE.pack(now - self._began, direction, len(data)))
        self._file.write(data)

    def close(self) -> None:
        self._file.close()


def read(file: Path) -> tuple[bytes, list[Piece]]:
    """What the upgrade asked for, and the pieces, up to where the file was cut off if its writer was killed."""
    with lzma.open(file, "rb") as recorded:
        target = json.loads(recorded.readline())["target"].encode("latin-1")
        return target, list(_pieces(recorded))


def _pieces(recorded: lzma.LZMAFile) -> Iterator[Piece]:
    while True:
        try:
            head = recorded.read(_PIECE.size)
            if len(head) < _PIECE.size:
                return
            at, direction, length = _PIECE.unpack(head)
            data = recorded.read(min(length, _LONGEST_PIECE))
        except (EOFError, lzma.LZMAError):
            return
        if len(data) < length:
            return
        yield Piece(at, Direction(direction), data)
