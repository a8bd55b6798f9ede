"""Files are in memory before tar comes to them; what cannot be read is left to tar to meet."""

import ctypes
import mmap
import os
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from codehub.job.read_ahead import ReadAhead
from tests.job.orders import fresh

SIZE = 64 * 1024
SECONDS = 60


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return fresh(tmp_path, "home")


@pytest.fixture
def home(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def make_cold(path: Path) -> None:
    """On the disk, and nowhere else."""
    path.write_bytes(os.urandom(SIZE))
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)
    if is_warm(path):
        pytest.skip("this file system keeps in memory what it is asked to forget")


def is_warm(path: Path) -> bool:
    """Whether its last page is in memory. Asked so that the asking does not bring it there, as any read would."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), SIZE, access=mmap.ACCESS_COPY) as pages:
        held = ctypes.c_char.from_buffer(pages)
        states = (ctypes.c_ubyte * (SIZE // mmap.PAGESIZE))()
        failed = _LIBC.mincore(ctypes.c_void_p(ctypes.addressof(held)), ctypes.c_size_t(SIZE), states)
        del held
    assert not failed
    return bool(states[-1] & 1)


_LIBC = ctypes.CDLL(None, use_errno=True)


def until_warm(path: Path) -> None:
    """The kernel reads in its own time."""
    deadline = time.monotonic() + SECONDS
    while not is_warm(path):
        assert time.monotonic() < deadline, f"{path} stays cold"
        time.sleep(0.01)


def test_cold_files_are_read_before_anybody_asks_for_them(folder: Path, home: int) -> None:
    for name in ("a", "b", "c"):
        make_cold(folder / name)
    with closing(ReadAhead(home)) as ahead:
        ahead.add([b"./a", b"./b", b"./c"])
    for name in ("a", "b", "c"):
        until_warm(folder / name)


def test_where_the_first_is_in_memory_its_neighbours_are_taken_to_be_too(folder: Path, home: int) -> None:
    make_cold(folder / "cold")
    (folder / "warm").write_bytes(bytes(SIZE))
    with closing(ReadAhead(home)) as ahead:
        ahead.add([b"./warm", b"./cold"])
    assert not is_warm(folder / "cold")


def test_what_cannot_be_read_harms_nothing(folder: Path, home: int) -> None:
    (folder / "link").symlink_to("/etc/passwd")
    os.mkfifo(folder / "fifo")
    make_cold(folder / "cold")
    before = set(os.listdir("/proc/self/fd"))
    with closing(ReadAhead(home)) as ahead:
        ahead.add([])
        ahead.add([b"./gone", b"./link", b"./fifo", b"./cold"])
    until_warm(folder / "cold")
    assert set(os.listdir("/proc/self/fd")) == before


def test_more_is_taken_than_it_has_hands_for_and_all_of_it_is_done(folder: Path, home: int) -> None:
    for number in range(40):
        make_cold(folder / str(number))
    with closing(ReadAhead(home)) as ahead:
        for number in range(40):
            ahead.add([b"./%d" % number])
    for number in range(40):
        until_warm(folder / str(number))
