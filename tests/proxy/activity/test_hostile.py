"""Bytes that nobody meant for a decoder: none raises, none makes it grow, and what cannot be followed has a rule."""

import random
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codehub.model.activity import Kind
from codehub.proxy.activity.frames import Frames
from codehub.proxy.activity.recording import Direction
from codehub.proxy.activity.tunnel import Tunnel, listen
from tests.proxy.activity.kept import feed, names, stream
from tests.proxy.activity.recording import Piece
from tests.proxy.activity.wire import frame, message

TARGETS = (
    b"/stable-53c2?reconnectionToken=1&reconnection=false",
    b"/stable-53c2?reconnectionToken=1&skipWebSocketFrames=true",
    b"/api/kernels/7/channels?session_id=1",
    b"/terminals/websocket/1",
    b"/api/events/subscribe",
    b"/socket.io/?transport=websocket",
)
MASK = b"\x11\x22\x33\x44"
BOUND_BYTES = 16_000
"""That one tunnel may hold at any time, whatever passed through it."""


def sides(tunnel: Tunnel, data: bytes, now: float) -> None:
    for side in (tunnel.from_client, tunnel.from_server):
        assert side.feed(data, now) in (None, *Kind)


@given(st.sampled_from(TARGETS), st.lists(st.binary(max_size=200), max_size=20))
def test_random_bytes_never_raise(target: bytes, pieces: list[bytes]) -> None:
    tunnel = listen(target)
    for number, data in enumerate(pieces):
        sides(tunnel, data, float(number))


@given(
    st.sampled_from(TARGETS),
    st.lists(st.tuples(st.sampled_from((0, 1, 2, 8, 9, 10)), st.booleans(), st.binary(max_size=150)), max_size=20),
)
def test_frames_of_anything_never_raise(target: bytes, sent: list[tuple[int, bool, bytes]]) -> None:
    tunnel = listen(target)
    for opcode, is_final, payload in sent:
        tunnel.from_client.feed(frame(payload, mask=MASK, opcode=opcode, is_final=is_final), 1)
        tunnel.from_server.feed(frame(payload, opcode=opcode, is_final=is_final), 1)


@pytest.mark.parametrize("name", names())
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_damaged_recordings_never_raise_and_tell_the_same_in_any_pieces(name: str, seed: int) -> None:
    """A byte here and there is another one, pieces are cut off, doubled or missing. Up to where it can be followed no
    longer: from then on the pieces themselves are what is judged."""
    chance = random.Random(seed)
    kept = stream(name)
    whole, in_parts = listen(kept.target), listen(kept.target)
    start = chance.randrange(len(kept.pieces))
    for piece in (*kept.pieces[:8], *kept.pieces[start : start + 300]):
        data = damaged(piece.data, chance)
        told = feed(whole, Piece(piece.at, piece.direction, data))
        place = chance.randrange(len(data) + 1)
        parts = [feed(in_parts, Piece(piece.at, piece.direction, part)) for part in (data[:place], data[place:])]
        if not is_lost(whole):
            assert [kind for kind in parts if kind is not None][-1:] == [kind for kind in (told,) if kind is not None]


def damaged(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    return {
        0: data[:place] + bytes([chance.randrange(256)]) + data[place + 1 :],
        1: data[:place],
        2: data * 2,
        3: b"",
    }.get(chance.randrange(60), data)


def is_lost(tunnel: Tunnel) -> bool:
    return any(isinstance(side, Frames) and side.is_lost for side in (tunnel.from_client, tunnel.from_server))


def endless(direction: Direction) -> list[bytes]:
    """What would make a decoder grow that kept what it has not understood yet."""
    mask = MASK if direction is Direction.FROM_CLIENT else None
    return [
        frame(message(1, b"\x04\x04\x06\x64\x06\x01\x01\x05" + b"a" * 90_000)[:70_000], mask=mask),
        frame(b"x" * 60_000, mask=mask, opcode=1, is_final=False),
        frame(b"y" * 60_000, mask=mask, opcode=0, is_final=False),
        frame(b"z" * 60_000, mask=mask, opcode=0, is_final=False)[:-30_000],
    ]


@pytest.mark.parametrize("target", TARGETS)
def test_memory_is_bounded_whatever_passes(target: bytes) -> None:
    tracemalloc.start()
    try:
        tunnel = listen(target)
        chance = random.Random(7)
        for _ in range(20):
            for direction in Direction:
                for data in endless(direction):
                    feed(tunnel, Piece(chance.random() * 1e6, direction, data))
        held = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, "*/codehub/proxy/activity/*")])
        assert sum(each.size for each in held.statistics("filename")) < BOUND_BYTES
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "unfollowable",
    [
        frame(b"compressed", mask=MASK, opcode=0x42),
        frame(b"unmasked, from a client"),
        frame(b"an opcode that nobody has given a meaning", mask=MASK, opcode=3),
        frame(b"a continuation of nothing", mask=MASK, opcode=0),
        frame(b"a ping in parts", mask=MASK, opcode=9, is_final=False),
        frame(bytes(200), mask=MASK, opcode=9),
        frame(b"\x63" + bytes(40), mask=MASK),
        b"\x82\xff" + b"\xff" * 8 + MASK + b"longer than anything",
    ],
)
def test_what_cannot_be_followed_is_judged_by_size_and_rhythm(unfollowable: bytes) -> None:
    side = listen(TARGETS[0]).from_client
    assert side.feed(unfollowable, 0) is None
    assert side.feed(bytes(19), 1) is None  # as long as a keep-alive
    told = [side.feed(bytes(700), 2 + number * 5) for number in range(6)]
    assert told == [Kind.MESSAGE] * 3 + [None] * 3
    assert side.feed(bytes(700), 70) is Kind.MESSAGE
    assert side.feed(bytes(60_000), 71) is Kind.TRANSFER


def test_one_direction_that_cannot_be_followed_leaves_the_other_alone() -> None:
    tunnel = listen(b"/terminals/websocket/1")
    tunnel.from_server.feed(b"garbage that is no frame", 0)
    typed = frame(b'["stdin","ls"]', mask=MASK, opcode=1)
    assert tunnel.from_client.feed(typed, 1) is Kind.TERMINAL_INPUT
