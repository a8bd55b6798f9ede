"""What is recorded is what is read."""

from pathlib import Path

import pytest

from codehub.proxy.activity.recording import Direction, Recorder
from tests.proxy.activity.recording import Piece, read

PIECES = [
    Piece(0.5, Direction.FROM_CLIENT, b"\x82\x80\x01\x02\x03\x04"),
    Piece(0.75, Direction.FROM_SERVER, bytes(range(256)) * 300),
    Piece(90.0, Direction.FROM_SERVER, b""),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    recorder = Recorder(tmp_path / "tunnel.xz", b"/stable?a=\xff", began=100)
    for piece in PIECES:
        recorder.write(piece.direction, memoryview(piece.data), 100 + piece.at)
    recorder.close()
    return tmp_path / "tunnel.xz"


def test_pieces_come_back_with_their_times_and_directions(file: Path) -> None:
    assert read(file) == (b"/stable?a=\xff", PIECES)


def test_of_a_recording_that_was_cut_off_the_beginning_is_read(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-40])
    target, pieces = read(file)
    assert target == b"/stable?a=\xff"
    assert pieces == PIECES[: len(pieces)]
