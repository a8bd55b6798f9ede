"""Recordings as tests read them: the streams in tests/proxy/activity/streams/ are such files."""

import json
import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codehub.proxy.activity.recording import PIECE, Direction

_LONGEST_PIECE = 1 << 24


@dataclass(frozen=True, slots=True)
class Piece:
    at: float
    direction: Direction
    data: bytes


def read(file: Path) -> tuple[bytes, list[Piece]]:
    """What the upgrade asked for, and the pieces, up to where the file was cut off if its writer was killed."""
    with lzma.open(file, "rb") as recorded:
        target = json.loads(recorded.readline())["target"].encode("latin-1")
        return target, list(_pieces(recorded))


def _pieces(recorded: lzma.LZMAFile) -> Iterator[Piece]:
    while True:
        try:
            head = recorded.read(PIECE.size)
            if len(head) < PIECE.size:
                return
            at, direction, length = PIECE.unpack(head)
            data = recorded.read(min(length, _LONGEST_PIECE))
        except (EOFError, lzma.LZMAError):
            return
        if len(data) < length:
            return
        yield Piece(at, Direction(direction), data)
