"""One wrong bit anywhere, or one missing byte: no archive is ever taken for whole that is not."""

import random
import struct
import subprocess
from pathlib import Path

import pytest

from codehub.job.faults import Corrupt
from codehub.job.order import Kind
from tests.job.campaign import size
from tests.job.orders import NAME, Desk, desk_in, fresh

FLIPS = size(small=40, large=500)
CUTS = size(small=20, large=500)


@pytest.fixture(scope="module")
def archived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Desk, bytes]:
    """A desk with an archive of a home of many small files and some that do not compress, and its bytes."""
    folder = tmp_path_factory.mktemp("corruption")
    home = fresh(folder, "home")
    noise = random.Random(5)
    for number in range(60):
        (home / f"file-{number}").write_bytes(b"text " * number + noise.randbytes(500))
    desk = desk_in(folder)
    desk.do(Kind.ARCHIVE, home)
    return desk, (folder / "archive" / NAME).read_bytes()


def is_refused(desk: Desk, data: bytes, target: Path) -> None:
    (desk.folder / "archive" / NAME).write_bytes(data)
    for kind in (Kind.VERIFY, Kind.RESTORE):
        with pytest.raises(Corrupt):
            desk.do(kind, target)


@pytest.mark.parametrize("seed", range(FLIPS))
def test_a_flipped_bit_is_found(archived: tuple[Desk, bytes], tmp_path: Path, seed: int) -> None:
    desk, data = archived
    chosen = random.Random(seed)
    flipped = bytearray(data)
    flipped[chosen.randrange(len(data))] ^= 1 << chosen.randrange(8)
    is_refused(desk, bytes(flipped), tmp_path)


@pytest.mark.parametrize("seed", range(CUTS))
def test_a_truncated_archive_is_found(archived: tuple[Desk, bytes], tmp_path: Path, seed: int) -> None:
    desk, data = archived
    is_refused(desk, data[: random.Random(seed).randrange(len(data))], tmp_path)


def test_bytes_behind_the_end_are_found(archived: tuple[Desk, bytes], tmp_path: Path) -> None:
    desk, data = archived
    is_refused(desk, data + b"\0", tmp_path)


def test_a_corrupt_archive_ends_its_job_with_its_own_code(archived: tuple[Desk, bytes], tmp_path: Path) -> None:
    desk, data = archived
    (desk.folder / "archive" / NAME).write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    outcome = desk.run(Kind.RESTORE, tmp_path)
    assert (outcome.exit_code, outcome.lines[-1]["fault"]) == (65, "corrupt")
    (desk.folder / "archive" / NAME).write_bytes(data)
    assert desk.run(Kind.RESTORE, fresh(tmp_path, "again")).exit_code == 0


def test_other_bytes_of_the_same_length_are_found(archived: tuple[Desk, bytes], tmp_path: Path) -> None:
    """The very same tar, compressed otherwise and filled up with a frame that zstd skips: only its checksum differs."""
    desk, data = archived
    tar = subprocess.run(["zstd", "-dcq"], input=data, capture_output=True, check=True).stdout
    smaller = subprocess.run(["zstd", "-19", "-cq"], input=tar, capture_output=True, check=True).stdout
    filling = len(data) - len(smaller) - 8
    assert filling >= 0
    is_refused(desk, smaller + struct.pack("<II", 0x184D2A50, filling) + bytes(filling), tmp_path)
