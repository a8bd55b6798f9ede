"""The kept streams, and what is found in them."""

import json
import lzma
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from codehub.model.activity import Kind
from codehub.proxy.activity.recording import Direction
from codehub.proxy.activity.tunnel import Tunnel, listen
from tests.proxy.activity.recording import Piece, read
from tests.proxy.activity.wire import masked_anew

STREAMS = Path(__file__).parent / "streams"


@dataclass(frozen=True)
class Stream:
    name: str
    target: bytes
    pieces: tuple[Piece, ...]


@cache
def stream(name: str) -> Stream:
    target, pieces = read(STREAMS / f"{name}.xz")
    return Stream(name, target, tuple(pieces))


def remasked(kept: Stream, mask: bytes) -> Stream:
    """The same with another mask in the client's frames."""
    whole = masked_anew(b"".join(p.data for p in kept.pieces if p.direction is Direction.FROM_CLIENT), mask)
    ends = accumulate(len(p.data) if p.direction is Direction.FROM_CLIENT else 0 for p in kept.pieces)
    pieces = [
        Piece(piece.at, piece.direction, whole[end - len(piece.data) : end])
        if piece.direction is Direction.FROM_CLIENT
        else piece
        for piece, end in zip(kept.pieces, ends, strict=True)
    ]
    return Stream(kept.name, kept.target, tuple(pieces))


def names(of: str = "") -> list[str]:
    return sorted(file.stem for file in STREAMS.glob(f"{of}*-[0-9].xz"))


@dataclass(frozen=True)
class Request:
    at: float
    method: str
    target: str
    headers: dict[str, str]


@cache
def _told(of: str) -> dict[str, list[Any]]:
    told: dict[str, list[Any]] = json.loads(lzma.decompress((STREAMS / f"{of}.json.xz").read_bytes()))
    return told


def marks(of: str) -> list[tuple[float, str]]:
    """What was done, and when it began."""
    return [(at, what) for at, what in _told(of)["marks"]]


def requests(of: str) -> list[Request]:
    """Every request that was made meanwhile."""
    return [Request(**each) for each in _told(of)["requests"]]


def doing(of: str, at: float) -> str:
    """What was being done at that time."""
    return [what for began, what in marks(of) if began <= at][-1]


def feed(tunnel: Tunnel, piece: Piece) -> Kind | None:
    side = tunnel.from_client if piece.direction is Direction.FROM_CLIENT else tunnel.from_server
    return side.feed(piece.data, piece.at)


def found(target: bytes, pieces: Iterable[Piece]) -> list[tuple[float, Kind]]:
    """The signs that a tunnel gives, and when."""
    tunnel = listen(target)
    return [(piece.at, kind) for piece in pieces if (kind := feed(tunnel, piece)) is not None]


def summary(of: str) -> dict[str, Counter[str]]:
    """For all that was done in a recorded story: how often which sign was given, in any of its tunnels."""
    signs: dict[str, Counter[str]] = {what: Counter() for _, what in marks(of)}
    for name in names(of):
        kept = stream(name)
        for at, kind in found(kept.target, kept.pieces):
            signs[doing(of, at)][kind.value] += 1
    return signs
