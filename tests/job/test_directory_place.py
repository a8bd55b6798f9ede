"""An archive in a folder: named when it is whole, read in bounded pieces, never through a link."""

import os
from pathlib import Path

import pytest

from codehub.job.directory_place import Directory
from codehub.job.faults import JobFault, Missing, TryAgain
from codehub.job.marker import MARKER_BYTES
from codehub.job.order import DirectoryPlace
from tests.job.orders import NAME, fresh

MIB = 1 << 20
MARKER = f"{NAME}.meta"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return fresh(tmp_path, "archive")


@pytest.fixture
def place(folder: Path) -> Directory:
    return Directory(DirectoryPlace(folder), NAME)


def put(place: Directory, *pieces: bytes) -> None:
    with place.upload() as upload:
        for piece in pieces:
            upload.write(piece)
        upload.complete()


def test_what_is_written_is_there_whole(place: Directory, folder: Path) -> None:
    data = os.urandom(2 * MIB + 100)
    put(place, data[:100], data[100:])
    assert place.size() == len(data)
    pieces = list(place.read())
    assert b"".join(pieces) == data
    assert max(map(len, pieces)) <= MIB
    assert sorted(path.name for path in folder.iterdir()) == [NAME]


def test_nothing_is_there_before_it_is_complete(place: Directory, folder: Path) -> None:
    with place.upload() as upload:
        upload.write(b"half")
        [draft] = folder.iterdir()
        assert draft.name.startswith(".unfinished-")
        assert draft.name.endswith(f"-{NAME}")
        assert (draft.read_bytes(), draft.stat().st_mode & 0o777) == (b"half", 0o600)
        assert place.size() is None
    assert list(folder.iterdir()) == []
    with pytest.raises(Missing) as refused:
        next(place.read())
    assert str(refused.value) == "The archive is not there."


def test_a_marker_is_created_once(place: Directory, folder: Path) -> None:
    assert place.marker() is None
    place.create_marker(b"first \xff")
    place.create_marker(b"second")
    assert place.marker() == b"first \xff"
    assert [path.name for path in folder.iterdir()] == [MARKER]


def test_only_so_much_is_read_of_what_should_be_a_marker(place: Directory, folder: Path) -> None:
    (folder / MARKER).write_bytes(b"x" * (MARKER_BYTES + 1))
    assert place.marker() == b"x" * MARKER_BYTES


def test_a_link_in_the_place_of_an_archive_or_a_marker_is_not_followed(
    place: Directory, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_bytes(b"x" * 5000)
    for name in (NAME, MARKER):
        (folder / name).symlink_to(tmp_path / "secret")
    assert place.size() == len(str(tmp_path / "secret"))
    for read in (lambda: next(place.read()), place.marker):
        with pytest.raises(JobFault) as refused:
            read()
        assert str(refused.value) == "The archive store refuses (Too many levels of symbolic links)."


def test_a_folder_that_is_away_is_a_passing_fault(tmp_path: Path) -> None:
    with pytest.raises(TryAgain) as refused:
        Directory(DirectoryPlace(tmp_path / "away"), NAME).size()
    assert str(refused.value) == "The archive's folder cannot be opened (No such file or directory)."


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_what_root_writes_belongs_to_whom_the_folder_belongs(place: Directory, folder: Path) -> None:
    os.chown(folder, 1234, 2345)
    put(place, b"archive")
    place.create_marker(b"marker")
    owners = {(path.stat().st_uid, path.stat().st_gid) for path in folder.iterdir()}
    assert owners == {(1234, 2345)}
