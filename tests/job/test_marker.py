"""With its marker the archive exists: written last, once, and believed by nobody who has not compared it."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from codehub.job.faults import Corrupt, JobFault, Missing, NoSpace
from codehub.job.marker import Marker, Totals, parse_marker
from codehub.job.order import Kind, Limits, Proof
from tests.job.orders import NAME, Desk, desk_in, fresh
from tests.job.tar_files import offer


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = fresh(tmp_path, "home")
    (home / "file").write_text("content")
    (home / "folder").mkdir()
    return home


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_in(tmp_path)


def test_the_marker_says_what_was_sent_and_whose_it_is(desk: Desk, home: Path) -> None:
    totals = desk.do(Kind.ARCHIVE, home)
    marker = parse_marker((desk.folder / "archive" / f"{NAME}.meta").read_bytes())
    assert marker.totals == totals
    assert (marker.workspace_id, marker.codehub_version) == (desk.workspace_id, "1.2.3")
    assert totals.size == (desk.folder / "archive" / NAME).stat().st_size
    assert (totals.entries, totals.content) == (3, 7)


def test_an_archive_that_is_there_is_left_as_it_is(desk: Desk, home: Path) -> None:
    totals = desk.do(Kind.ARCHIVE, home)
    before = (desk.folder / "archive" / NAME).stat()
    (home / "file").write_text("changed since")
    assert desk.do(Kind.ARCHIVE, home) == totals
    assert (desk.folder / "archive" / NAME).stat() == before


def test_an_archive_without_a_marker_is_made_anew(desk: Desk, home: Path) -> None:
    desk.do(Kind.ARCHIVE, home)
    (desk.folder / "archive" / f"{NAME}.meta").unlink()
    (home / "file").write_text("changed since")
    desk.do(Kind.VERIFY, home, expected=desk.do(Kind.ARCHIVE, home), proof=Proof.EXTRACT)


def test_what_an_earlier_run_has_left_goes_with_the_next(desk: Desk, home: Path) -> None:
    (desk.folder / "archive" / f".unfinished-0-{NAME}").write_text("half an archive")
    desk.do(Kind.ARCHIVE, home)
    assert sorted(path.name for path in (desk.folder / "archive").iterdir()) == [NAME, f"{NAME}.meta"]


def test_a_marker_beside_other_bytes_is_never_taken_for_an_archive(desk: Desk, home: Path) -> None:
    desk.do(Kind.ARCHIVE, home)
    (desk.folder / "archive" / NAME).write_bytes(b"other")
    for kind, folder in ((Kind.ARCHIVE, home), (Kind.VERIFY, home), (Kind.RESTORE, fresh(desk.folder))):
        with pytest.raises(Corrupt):
            desk.do(kind, folder)


def test_the_archive_of_another_workspace_is_refused(desk: Desk, home: Path) -> None:
    desk.do(Kind.ARCHIVE, home)
    for kind, folder in ((Kind.ARCHIVE, home), (Kind.VERIFY, home), (Kind.RESTORE, fresh(desk.folder))):
        with pytest.raises(Corrupt, match="another workspace"):
            desk.do(kind, folder, workspace_id="another")


@pytest.mark.parametrize("name", [NAME, f"{NAME}.meta"])
def test_a_lost_archive_is_told_from_a_corrupt_one(desk: Desk, home: Path, name: str) -> None:
    desk.do(Kind.ARCHIVE, home)
    (desk.folder / "archive" / name).unlink()
    with pytest.raises(Missing):
        desk.do(Kind.RESTORE, fresh(desk.folder))


TOTALS = Totals(585, "a" * 64, 65536, 1536, 9, "b" * 64)
MARKER = Marker("workspace", "2026-11-15T13:15:13+00:00", "1.2.3", TOTALS)


def test_a_marker_is_read_as_it_was_written_and_by_people_too() -> None:
    assert parse_marker(MARKER.encode()) == MARKER
    lines = MARKER.encode().decode().splitlines()
    assert lines[:3] == ["{", ' "format": 1,', ' "workspace_id": "workspace",']
    assert MARKER.encode().endswith(b"\n}\n")
    zeros = replace(TOTALS, size=0, uncompressed=0, content=0, entries=0)
    assert parse_marker(replace(MARKER, totals=zeros).encode()).totals == zeros


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 2}, "The archive has the format 2; this program reads 1."),
        ({"size": -1}, "The archive's marker cannot be read (size is no number)."),
        ({"entries": "3"}, "The archive's marker cannot be read (entries is no number)."),
        ({"content": True}, "The archive's marker cannot be read (content is no number)."),
        ({"uncompressed": 1.0}, "The archive's marker cannot be read (uncompressed is no number)."),
        ({"sha256": "short"}, "The archive's marker cannot be read (sha256 is no SHA-256)."),
        ({"manifest_sha256": ["a"] * 64}, "The archive's marker cannot be read (manifest_sha256 is no SHA-256)."),
    ],
    ids=str,
)
def test_a_marker_that_cannot_be_read_is_a_corrupt_archive(change: dict[str, object], said: str) -> None:
    with pytest.raises(Corrupt) as refused:
        parse_marker(json.dumps(json.loads(MARKER.encode()) | change).encode())
    assert str(refused.value) == said


def test_a_home_is_restored_into_an_empty_folder_only(desk: Desk, home: Path) -> None:
    desk.do(Kind.ARCHIVE, home)
    with pytest.raises(JobFault, match="is not empty"):
        desk.do(Kind.RESTORE, home)
    (fresh(desk.folder) / "lost+found").mkdir()
    desk.do(Kind.RESTORE, desk.folder / "restored")


def test_an_archive_of_another_home_does_not_pass_for_this_one(desk: Desk, home: Path) -> None:
    desk.do(Kind.ARCHIVE, home)
    (home / "file").write_text("CONTENT")
    desk.do(Kind.VERIFY, home)
    with pytest.raises(Corrupt, match="not that of the home"):
        desk.do(Kind.VERIFY, home, proof=Proof.EXTRACT)


def test_what_cannot_fit_is_refused_before_anything_is_written(desk: Desk, home: Path) -> None:
    desk.do(Kind.ARCHIVE, home)
    marker = desk.folder / "archive" / f"{NAME}.meta"
    for name in ("content", "entries"):
        before = marker.read_text()
        marker.write_text(json.dumps(json.loads(before) | {name: 1 << 50}))
        with pytest.raises(NoSpace):
            desk.do(Kind.RESTORE, fresh(desk.folder, name))
        assert list((desk.folder / name).iterdir()) == []
        marker.write_text(before)


@pytest.mark.parametrize("limits", [Limits(bytes=2048), Limits(entries=2)])
def test_no_archive_unpacks_to_more_than_its_order_allows(desk: Desk, home: Path, limits: Limits) -> None:
    desk.do(Kind.ARCHIVE, home)
    with pytest.raises(Corrupt, match="more than the"):
        desk.do(Kind.RESTORE, fresh(desk.folder), limits=limits)


def test_the_manifest_is_what_tar_was_told_to_take(desk: Desk, home: Path) -> None:
    names = b".\0./file\0./folder\0"
    assert desk.do(Kind.ARCHIVE, home).manifest_sha256 == hashlib.sha256(names).hexdigest()
    marker = desk.folder / "archive" / f"{NAME}.meta"
    other = hashlib.sha256(names.replace(b"file", b"elif")).hexdigest()
    marker.write_text(json.dumps(json.loads(marker.read_text()) | {"manifest_sha256": other}))
    with pytest.raises(Corrupt, match="not what was sent"):
        desk.do(Kind.VERIFY, home)


def test_an_archive_of_nothing_is_an_empty_home(desk: Desk) -> None:
    offer(desk, desk.folder / "archive", bytes(10240), entries=0)
    assert desk.do(Kind.RESTORE, fresh(desk.folder)).entries == 0
    assert list((desk.folder / "restored").iterdir()) == []
