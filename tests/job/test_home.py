"""What is seen of a home: every entry once, in its order, how much it is, and whether it could come back."""

import os
import socket
import stat
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from codehub.job.faults import JobFault, NoSpace, TryAgain
from codehub.job.home import Home, Survey
from tests.job.orders import fresh
from tests.job.test_fidelity import make_deep, path_of

IS_ROOT = os.geteuid() == 0
HEADERS = 3 * 512  # of each entry, as far as anybody knows before tar has written them


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return fresh(tmp_path, "home")


@pytest.fixture
def home(folder: Path) -> Iterator[Home]:
    with closing(Home(folder)) as home:
        yield home


def surveyed(home: Home) -> Survey:
    return home.survey(lambda *_: None)


def names(home: Home) -> list[bytes]:
    return [found.path for found in home.walk()]


def test_a_folder_comes_before_what_it_holds_and_its_files_before_its_folders(folder: Path, home: Home) -> None:
    (folder / "folder/below").mkdir(parents=True)
    for path in ("folder/below/deep", "folder/inner", "outer"):
        (folder / path).touch()
    assert names(home) == [b".", b"./outer", b"./folder", b"./folder/inner", b"./folder/below", b"./folder/below/deep"]


def test_the_files_of_a_folder_come_as_they_lie_on_the_disk(folder: Path, home: Home) -> None:
    for number in range(20):
        (folder / f"{number * 7 % 20}").touch()
    found = [folder / os.fsdecode(name) for name in names(home)[1:]]
    assert found == sorted(found, key=lambda path: path.stat().st_ino)


def test_each_entry_is_known_for_what_it_is(folder: Path, home: Home) -> None:
    (folder / "file").touch()
    (folder / "folder").mkdir()
    (folder / "link").symlink_to("folder")
    (folder / "link-to-file").symlink_to("file")
    os.mkfifo(folder / "fifo")
    kinds = {found.path: (found.is_folder, found.is_file) for found in home.walk()}
    neither = (False, False)
    folders, files = {b".": (True, False), b"./folder": (True, False)}, {b"./file": (False, True)}
    assert kinds == folders | files | {b"./link": neither, b"./link-to-file": neither, b"./fifo": neither}


def test_an_entry_is_looked_at_where_that_is_asked_for(folder: Path, home: Home) -> None:
    (folder / "file").write_bytes(b"content")
    assert [found.status is None for found in home.walk()] == [False, True]
    [_, looked] = home.walk(look=True)
    assert looked.status is not None
    assert (looked.status.st_size, looked.status.st_ino) == (7, (folder / "file").stat().st_ino)


@pytest.mark.parametrize("look", [False, True])
def test_a_socket_is_left_out(folder: Path, home: Home, look: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        assert [found.path for found in home.walk(look=look)] == [b"."]


@pytest.mark.skipif(not IS_ROOT, reason="only root can make a device")
@pytest.mark.parametrize("kind", [stat.S_IFCHR, stat.S_IFBLK])
def test_a_device_is_left_out(folder: Path, home: Home, kind: int) -> None:
    try:
        os.mknod(folder / "device", kind | 0o600, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("not even root may make a device here")
    assert names(home) == [b"."]


def test_a_link_in_the_place_of_a_folder_is_not_followed(folder: Path, home: Home) -> None:
    (folder / "folder").mkdir()
    walk = home.walk()
    assert next(walk).path == b"."
    assert next(walk).path == b"./folder"
    (folder / "folder").rmdir()
    (folder / "folder").symlink_to("/")
    with pytest.raises(NotADirectoryError):
        next(walk)


def test_a_survey_tells_how_much_there_is(folder: Path, home: Home) -> None:
    (folder / "file").write_bytes(b"x" * 10_000)
    (folder / "folder").mkdir()
    (folder / "folder/small").write_bytes(b"y")
    (folder / "link").symlink_to("x" * 100)
    survey = surveyed(home)
    assert (survey.entries, survey.content) == (5, 10_001)
    assert survey.bytes == 5 * HEADERS + 20 * 512 + 512


def test_a_hole_takes_nothing(folder: Path, home: Home) -> None:
    (folder / "hole").touch()
    os.truncate(folder / "hole", 1 << 30)
    survey = surveyed(home)
    assert (survey.entries, survey.content, survey.bytes) == (2, 0, 2 * HEADERS)


def test_a_file_with_several_names_takes_its_room_once(folder: Path, home: Home) -> None:
    for name, more in (("two-names", 1), ("three-names", 2)):
        (folder / name).write_bytes(b"x" * 600)
        for number in range(more):
            os.link(folder / name, folder / f"{name}-{number}")
    survey = surveyed(home)
    assert (survey.entries, survey.content) == (6, 1200)
    assert survey.bytes == 6 * HEADERS + 2 * 1024


def test_how_far_a_survey_is_can_be_seen(folder: Path, home: Home) -> None:
    (folder / "file").write_bytes(b"x" * 600)
    seen: list[tuple[int, int]] = []
    home.survey(lambda *figures: seen.append(figures))
    assert seen == [(HEADERS, 1), (2 * HEADERS + 1024, 2)]


def test_another_survey_of_the_same_home_is_the_same(folder: Path, home: Home) -> None:
    (folder / "file").write_bytes(b"x")
    first = surveyed(home)
    assert surveyed(home) == first
    (folder / "file").write_bytes(b"y")
    changed = surveyed(home)
    assert changed != first
    (folder / "file").rename(folder / "renamed")
    assert surveyed(home) != changed


def test_two_entries_that_change_places_are_a_change(folder: Path, home: Home) -> None:
    """The fingerprint is one of all entries, not of the last."""
    (folder / "a").touch()
    (folder / "z").touch()
    before = surveyed(home)
    os.utime(folder / names(home)[1].decode(), (1, 1))
    after = surveyed(home)
    assert after.fingerprint != before.fingerprint
    assert (after.entries, after.bytes, after.content) == (before.entries, before.bytes, before.content)


def test_the_longest_path_is_surveyed_and_a_longer_one_is_refused(tmp_path: Path, folder: Path, home: Home) -> None:
    make_deep(folder, path_of(4095))
    assert surveyed(home).entries == 1 + len(path_of(4095))
    longer = fresh(tmp_path, "longer")
    make_deep(longer, path_of(4096))
    with closing(Home(longer)) as too_long, pytest.raises(JobFault) as refused:
        surveyed(too_long)
    shown = "./" + "n" * 198
    said = "A path in the home has 4096 bytes and could not be restored; 4095 are possible. It begins with"
    assert str(refused.value) == f"{said} '{shown}'."
    for made in (folder, longer):
        subprocess.run(["rm", "-rf", made], check=True)


def test_a_home_that_goes_away_meanwhile_is_tried_again(folder: Path, home: Home) -> None:
    (folder / "folder").mkdir()

    def remove(_size: int, entries: int) -> None:
        if entries == 2:
            (folder / "folder").rmdir()

    with pytest.raises(TryAgain) as refused:
        home.survey(remove)
    assert str(refused.value) == "The home changes while it is read."


def test_a_home_that_is_none_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name, why in (("missing", "No such file or directory"), ("file", "Not a directory")):
        with pytest.raises(JobFault) as refused:
            Home(tmp_path / name)
        assert str(refused.value) == f"The home {tmp_path / name} cannot be opened ({why})."


def test_a_fresh_home_is_empty_but_for_what_its_file_system_brings(folder: Path, home: Home) -> None:
    home.require_empty()
    (folder / "lost+found").mkdir()
    home.require_empty()
    (folder / "file").touch()
    with pytest.raises(JobFault) as refused:
        home.require_empty()
    said = f"The home {folder} is not empty; an archive is restored into a fresh one only."
    assert str(refused.value) == said


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = fresh(tmp_path, "small")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=10", "tmpfs", disk], check=True)
    yield disk
    subprocess.run(["umount", disk], check=True)


@pytest.mark.skipif(not IS_ROOT, reason="only root can mount a small disk")
def test_what_fits_exactly_has_room_and_a_byte_or_a_file_more_has_none(small_disk: Path) -> None:
    free, files = 1 << 20, 9
    with closing(Home(small_disk)) as home:
        home.require_room(free, files)
        with pytest.raises(NoSpace) as refused:
            home.require_room(free + 1, 0)
        assert (
            str(refused.value) == f"The files of the archive have {free + 1} bytes, and the volume has room for {free}."
        )
        with pytest.raises(NoSpace) as refused:
            home.require_room(0, files + 1)
        assert str(refused.value) == "The archive has 10 entries, and the volume has room for 9 files."
