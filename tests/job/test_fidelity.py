"""A home comes back as it was: through the job, and through nothing but zstd and tar as the documentation says."""

import os
import re
import shutil
import socket
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from codehub.job.faults import JobFault
from codehub.job.order import DirectoryPlace, Kind, Proof
from tests.job.campaign import size
from tests.job.orders import NAME, Desk, desk_in, fresh
from tests.job.sights import allocated, sight
from tests.job.trees import MIB, Item, build, homes

DOCUMENT = Path(__file__).parents[2] / "docs/archive-format.md"


@contextmanager
def own_folder() -> Iterator[Path]:
    """A folder per example, removed even where it holds what Python's own removal does not master."""
    folder = Path(tempfile.mkdtemp(prefix="codehub-job-"))
    try:
        yield folder
    finally:
        subprocess.run(["chmod", "-R", "u+rwx", folder], check=True)
        subprocess.run(["rm", "-rf", folder], check=True)


def restored_by_hand(desk: Desk, target: Path) -> Path:
    """By the very command that the documentation gives."""
    commands = re.findall(r"^zstd .*tar .*$", DOCUMENT.read_text(), re.MULTILINE)
    assert len(commands) == 1
    assert isinstance(desk.place, DirectoryPlace)
    subprocess.run(["sh", "-ec", commands[0].replace(NAME, str(desk.place.folder / NAME))], cwd=target, check=True)
    return target


@settings(max_examples=size(small=60, large=1000), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(home=homes)
def test_any_tree_comes_back_as_it_was(home: Item) -> None:
    with own_folder() as folder:
        build(home, folder / "home")
        before = sight(folder / "home")
        desk = desk_in(folder)
        totals = desk.do(Kind.ARCHIVE, folder / "home")
        assert totals.entries == len(before)
        desk.do(Kind.VERIFY, folder / "home", expected=totals, proof=Proof.EXTRACT)
        desk.do(Kind.RESTORE, fresh(folder), expected=totals)
        assert sight(folder / "restored") == before
        assert sight(restored_by_hand(desk, fresh(folder, "by-hand"))) == before
        assert sight(folder / "home") == before


def test_holes_come_back_as_holes(tmp_path: Path) -> None:
    home = fresh(tmp_path, "home")
    with (home / "disk.img").open("wb") as file:
        file.seek(500 * MIB)
        file.write(b"the end")
    (home / "only-a-hole").touch()
    os.truncate(home / "only-a-hole", 100 * MIB)
    desk = desk_in(tmp_path)
    assert desk.do(Kind.ARCHIVE, home).uncompressed < MIB
    desk.do(Kind.RESTORE, fresh(tmp_path))
    assert sight(tmp_path / "restored") == sight(home)
    assert allocated(tmp_path / "restored") <= allocated(home)


def test_access_lists_come_back(tmp_path: Path) -> None:
    home = fresh(tmp_path, "home")
    (home / "folder").mkdir()
    (home / "file").touch()
    for number, tag in enumerate(["system.posix_acl_access", "system.posix_acl_default"]):
        os.setxattr(home / "folder", tag, access_list(reader=4321 + number))
    os.setxattr(home / "file", "system.posix_acl_access", access_list(reader=1234))
    desk = desk_in(tmp_path)
    desk.do(Kind.ARCHIVE, home)
    desk.do(Kind.RESTORE, fresh(tmp_path))
    assert sight(tmp_path / "restored") == sight(home)


def access_list(*, reader: int) -> bytes:
    """One more user who may read, in the kernel's own form: version, then tag, permissions and id of each entry."""
    nobody = 0xFFFFFFFF
    entries = [(0x01, 6, nobody), (0x02, 4, reader), (0x04, 4, nobody), (0x10, 6, nobody), (0x20, 0, nobody)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def path_of(length: int) -> list[bytes]:
    """Names that together, from `./` on, have so many bytes."""
    names, left = [], length - 1
    while left > 0:
        names.append(b"n" * min(200, left - 1))
        left -= len(names[-1]) + 1
        if left == 1:
            names[-1] += b"n"
            left = 0
    return names


def make_deep(home: Path, names: list[bytes]) -> None:
    descriptor = os.open(home, os.O_RDONLY)
    for name in names[:-1]:
        os.mkdir(name, dir_fd=descriptor)
        below = os.open(name, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    os.close(os.open(names[-1], os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
    os.close(descriptor)


def test_the_longest_path_comes_back(tmp_path: Path) -> None:
    home = fresh(tmp_path, "home")
    make_deep(home, path_of(4095))
    desk = desk_in(tmp_path)
    assert desk.do(Kind.ARCHIVE, home) == desk.do(Kind.VERIFY, home)
    desk.do(Kind.RESTORE, fresh(tmp_path))
    assert found(tmp_path / "restored") == found(home)
    assert max(map(len, found(home))) == 4095


def found(folder: Path) -> set[bytes]:
    """By `find`, since the whole path of what is found may be too long for a system call."""
    return set(subprocess.run(["find", "."], cwd=folder, capture_output=True, check=True).stdout.splitlines())


def test_a_path_that_could_not_come_back_is_refused_before_anything_is_lost(tmp_path: Path) -> None:
    home = fresh(tmp_path, "home")
    make_deep(home, path_of(4096))
    desk = desk_in(tmp_path)
    with pytest.raises(JobFault, match="4096 bytes and could not be restored"):
        desk.do(Kind.ARCHIVE, home)
    assert list((tmp_path / "archive").iterdir()) == []
    shutil.rmtree(home)


def test_an_empty_home_is_a_home(tmp_path: Path) -> None:
    home = fresh(tmp_path, "home")
    desk = desk_in(tmp_path)
    assert desk.do(Kind.ARCHIVE, home).entries == 1
    desk.do(Kind.RESTORE, fresh(tmp_path))
    assert sight(tmp_path / "restored") == sight(home)


def test_sockets_and_devices_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fresh(tmp_path, "home")
    (home / "file").write_text("kept")
    monkeypatch.chdir(home)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
    if os.geteuid() == 0:
        os.mknod(home / "device", 0o020666, os.makedev(1, 3))
    desk = desk_in(tmp_path)
    desk.do(Kind.ARCHIVE, home)
    desk.do(Kind.RESTORE, fresh(tmp_path))
    assert [path.name for path in (tmp_path / "restored").iterdir()] == ["file"]
