"""However a stream is cut into pieces, and whatever its masks: it tells the same."""

import bisect
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codehub.model.activity import Kind
from codehub.proxy.activity.recording import Direction
from codehub.proxy.activity.tunnel import listen
from tests.proxy.activity.kept import feed, names, remasked, stream
from tests.proxy.activity.recording import Piece


def cut(piece: Piece, *places: int) -> list[Piece]:
    edges = sorted({0, len(piece.data), *(place % (len(piece.data) + 1) for place in places)})
    return [Piece(piece.at, piece.direction, piece.data[start:stop]) for start, stop in pairwise(edges)]


@cache
def byte_by_byte(name: str) -> list[tuple[int, int, Kind]]:
    """The signs of a stream that arrives one byte at a time: of which piece, after which byte of it."""
    kept = stream(name)
    tunnel = listen(kept.target)
    signs = []
    for number, piece in enumerate(kept.pieces):
        for at in range(len(piece.data)):
            kind = feed(tunnel, Piece(piece.at, piece.direction, piece.data[at : at + 1]))
            if kind is not None:
                signs.append((number, at, kind))
    return signs


def expected(name: str, number: int, start: int, stop: int) -> Kind | None:
    """What a part of a piece tells: the last of what its bytes tell."""
    signs = byte_by_byte(name)
    last = bisect.bisect_left(signs, (number, stop)) - 1
    return signs[last][2] if last >= 0 and signs[last][:2] >= (number, start) else None


@pytest.mark.parametrize("name", [name for name in names() if "idle" not in name])
@settings(max_examples=3, deadline=None)
@given(mask=st.binary(min_size=4, max_size=4), places=st.lists(st.integers(0, 1 << 20), max_size=6))
def test_pieces_and_masks_do_not_matter(name: str, mask: bytes, places: list[int]) -> None:
    kept = remasked(stream(name), mask)
    tunnel = listen(kept.target)
    for number, piece in enumerate(kept.pieces):
        start = 0
        for part in cut(piece, *(place + number for place in places)):
            stop = start + len(part.data)
            assert feed(tunnel, part) == expected(name, number, start, stop)
            start = stop


@pytest.mark.parametrize("name", names("vscode-idle"))
@settings(max_examples=2, deadline=None)
@given(places=st.lists(st.integers(0, 1 << 20), max_size=6))
def test_an_idle_tab_is_idle_in_any_pieces(name: str, places: list[int]) -> None:
    kept = stream(name)
    tunnel = listen(kept.target)
    for number, piece in enumerate(kept.pieces):
        assert {feed(tunnel, part) for part in cut(piece, *(place + number for place in places))} == {None}


@pytest.mark.parametrize("name", names())
def test_a_view_tells_the_same_as_bytes_and_stays_as_it_is(name: str) -> None:
    kept = stream(name)
    plain, viewed = listen(kept.target), listen(kept.target)
    for piece in kept.pieces:
        held = bytearray(piece.data)
        part = viewed.from_client if piece.direction is Direction.FROM_CLIENT else viewed.from_server
        assert part.feed(memoryview(held).toreadonly(), piece.at) == feed(plain, piece)
        assert held == piece.data
