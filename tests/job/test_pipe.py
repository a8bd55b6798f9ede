"""Every stage does its part, or the job ends with what went wrong: programs that fail, lie, end early or are killed."""

import io
import json
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from codehub.job import progress as progress_module
from codehub.job.archive import Pipe
from codehub.job.faults import Corrupt, JobFault, Missing, NoSpace, TryAgain
from codehub.job.home import Found, Home, Survey
from codehub.job.marker import Marker, Totals, parse_marker
from codehub.job.order import Kind, Limits, Proof
from codehub.job.place import open_place
from codehub.job.progress import Progress
from codehub.job.run import JOBS
from tests.job.orders import NAME, Desk, desk_in, fresh
from tests.job.sights import sight

MIB = 1 << 20
FILES = 70  # more than tar is told at once
SECONDS = 60
REAL = f'export PATH="{os.environ["PATH"]}"; '
"""Begins a script that goes on as the program in whose place it was put."""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_in(tmp_path)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Several pieces long, since nothing in its large file compresses."""
    home = fresh(tmp_path, "home")
    (home / "large").write_bytes(os.urandom(3 * MIB))
    for number in range(FILES):
        (home / f"small-{number}").write_bytes(b"x" * number)
    return home


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a test puts the programs that are to be found before the real ones."""
    folder = fresh(tmp_path, "bin")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def install(programs: Path, name: str, script: str) -> None:
    (programs / name).write_text(f"#!/bin/sh\n{script}\n")
    (programs / name).chmod(0o755)


def told(desk: Desk, kind: Kind, home: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    """Everything that the job has to tell, however quick it is."""
    monkeypatch.setattr(progress_module, "_EVERY_SECONDS", 0.0)
    output = io.StringIO()
    JOBS[kind](desk.order(kind, home), Progress(output))
    return [json.loads(line) for line in output.getvalue().splitlines()]


def refusal(desk: Desk, kind: Kind, home: Path, fault: type[JobFault], **changes: object) -> str:
    order = replace(desk.order(kind, home), **changes)  # type: ignore[arg-type]
    with pytest.raises(JobFault) as refused:
        JOBS[kind](order, Progress(io.StringIO()))
    assert type(refused.value) is fault
    return str(refused.value)


def marker_of(desk: Desk) -> Path:
    return desk.folder / "archive" / f"{NAME}.meta"


def rewrite(desk: Desk, **said: object) -> None:
    marker_of(desk).write_text(json.dumps(json.loads(marker_of(desk).read_text()) | said))


def test_a_home_of_many_pieces_goes_there_and_comes_back(desk: Desk, home: Path) -> None:
    totals = desk.do(Kind.ARCHIVE, home)
    assert totals.entries == 2 + FILES
    assert desk.do(Kind.VERIFY, home, expected=totals, proof=Proof.EXTRACT) == totals
    assert desk.do(Kind.RESTORE, fresh(desk.folder), expected=totals) == totals
    assert sight(desk.folder / "restored") == sight(home)


def test_a_marker_says_when_it_was_made(desk: Desk, home: Path) -> None:
    desk.do(Kind.ARCHIVE, home)
    made_at = parse_marker(marker_of(desk).read_bytes()).made_at
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", made_at)


def test_a_higher_level_makes_a_smaller_archive(tmp_path: Path) -> None:
    home = fresh(tmp_path, "home")
    words = [str(number * 7919) for number in range(10_000)]
    (home / "text").write_text("\n".join(words))
    sizes = []
    for level in (1, 19):
        order = desk_in(fresh(tmp_path, str(level))).order(Kind.ARCHIVE, home)
        sizes.append(JOBS[Kind.ARCHIVE](replace(order, level=level), Progress(io.StringIO())).size)
    assert sizes[1] < sizes[0]


def test_an_archive_is_told_from_its_first_byte_to_its_last(
    desk: Desk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = told(desk, Kind.ARCHIVE, home, monkeypatch)
    with closing(Home(home)) as seen:
        survey = seen.survey(lambda *_: None)
    surveys = [line for line in lines if line["stage"] == "survey"]
    assert (surveys[0]["bytes"], surveys[-1]["bytes"], surveys[-1]["entries"]) == (0, survey.bytes, survey.entries)
    assert next(line["total"] for line in lines if line["stage"] == "archive") == survey.bytes
    assert lines[-1]["stage"] == "commit"


class Surveyed(Home):
    """Tells tar of nothing before it was surveyed, however slow that is."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._is_surveyed = threading.Event()

    def survey(self, seen: Callable[[int, int], None]) -> Survey:
        try:
            return super().survey(seen)
        finally:
            self._is_surveyed.set()

    def walk(self, *, look: bool = False) -> Iterator[Found]:
        if not look:
            self._is_surveyed.wait(SECONDS)
        return super().walk(look=look)


def sent(desk: Desk, home: Home, output: io.StringIO) -> Totals:
    """As `archive` does it."""
    place = open_place(desk.order(Kind.ARCHIVE, home.folder))
    with closing(home), place.upload() as upload:
        return Pipe(home, upload, 1, Progress(output)).run()


def test_an_archive_is_told_while_it_is_sent(
    desk: Desk, home: Path, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """zstd hands on what it has when tar has ended, so that all of it is there to be told of."""
    monkeypatch.chdir(fresh(desk.folder, "here"))
    monkeypatch.setattr(progress_module, "_EVERY_SECONDS", 0.0)
    install(programs, "zstd", f'{REAL}zstd "$@" > part; cat part')
    sent(desk, Surveyed(home), output := io.StringIO())
    lines = [line for line in map(json.loads, output.getvalue().splitlines()) if line["stage"] == "archive"]
    assert len(lines) > 2
    assert lines[-1]["entries"] == 2 + FILES
    assert 3 * MIB <= lines[-1]["bytes"] < 4 * MIB


@pytest.mark.parametrize(("kind", "stages"), [(Kind.VERIFY, ["verify"]), (Kind.RESTORE, ["restore", "sync"])])
def test_what_is_read_back_is_told_to_its_last_byte(
    desk: Desk, home: Path, kind: Kind, stages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    totals = desk.do(Kind.ARCHIVE, home)
    folder = home if kind is Kind.VERIFY else fresh(desk.folder)
    lines = told(desk, kind, folder, monkeypatch)
    assert list(dict.fromkeys(line["stage"] for line in lines)) == stages
    [first, *_, last] = [line for line in lines if line["stage"] == stages[0]]
    assert (first["bytes"], first["total"], first["entries"]) == (0, totals.uncompressed, 0)
    assert (last["bytes"], last["total"], last["entries"]) == (totals.uncompressed, totals.uncompressed, totals.entries)


@pytest.mark.parametrize("kind", [Kind.VERIFY, Kind.RESTORE])
def test_what_is_wrong_with_an_archive_is_said(desk: Desk, home: Path, kind: Kind) -> None:
    totals = desk.do(Kind.ARCHIVE, home)
    archive, folder = desk.folder / "archive" / NAME, home if kind is Kind.VERIFY else fresh(desk.folder)
    said = "The archive's marker tells of other bytes than were sent."
    assert refusal(desk, kind, folder, Corrupt, expected=replace(totals, entries=1)) == said
    assert refusal(desk, kind, folder, Corrupt, workspace_id="w") == "The archive is that of another workspace."
    rewrite(desk, size=1)
    said = f"The archive should have 1 bytes and has {totals.size}."
    assert refusal(desk, kind, folder, Corrupt) == said
    rewrite(desk, size=totals.size)
    archive.write_bytes(b"\0" * totals.size)
    assert "The archive cannot be decompressed (zstd failed: " in refusal(desk, kind, folder, Corrupt)


def test_what_is_not_there_is_said(desk: Desk, home: Path) -> None:
    said = "There is no archive under this key, or none that was finished."
    assert refusal(desk, Kind.VERIFY, home, Missing) == said
    desk.do(Kind.ARCHIVE, home)
    (desk.folder / "archive" / NAME).unlink()
    assert refusal(desk, Kind.VERIFY, home, Missing) == said


@pytest.mark.parametrize("field", ["sha256", "manifest_sha256", "uncompressed", "entries"])
def test_every_figure_of_a_marker_is_compared(desk: Desk, home: Path, field: str) -> None:
    totals = desk.do(Kind.ARCHIVE, home)
    changed = "0" * 64 if field.endswith("sha256") else getattr(totals, field) + 1
    rewrite(desk, **{field: changed})
    declared = parse_marker(marker_of(desk).read_bytes()).totals
    said = f"The archive is not what was sent: {declared} was, {totals} is there."
    assert refusal(desk, Kind.VERIFY, home, Corrupt) == said


def test_limits_count_beside_the_marker(desk: Desk, home: Path) -> None:
    totals = desk.do(Kind.ARCHIVE, home)
    desk.do(Kind.RESTORE, fresh(desk.folder, "enough"), limits=Limits(totals.uncompressed, totals.entries))
    for limits in (Limits(bytes=totals.uncompressed - 1), Limits(entries=totals.entries - 1)):
        assert "more than the" in refusal(desk, Kind.VERIFY, home, Corrupt, limits=limits)


def test_an_archive_that_is_there_is_taken_for_done_only_if_it_is_this_one(desk: Desk, home: Path) -> None:
    totals = desk.do(Kind.ARCHIVE, home)
    said = "Under this key lies the archive of another workspace."
    assert refusal(desk, Kind.ARCHIVE, home, Corrupt, workspace_id="another") == said
    (desk.folder / "archive" / NAME).write_bytes(b"1234")
    said = f"The archive has a marker of {totals.size} bytes, but 4 bytes are there."
    assert refusal(desk, Kind.ARCHIVE, home, Corrupt) == said


READING = "cat > /dev/null; "
FULL = "No space left on device"
RIVAL = Totals(1, "c" * 64, 2, 3, 4, "d" * 64)


def test_the_marker_of_a_rival_is_never_taken_for_ours(desk: Desk, home: Path, programs: Path) -> None:
    marker = desk.folder / "rival"
    marker.write_bytes(Marker(desk.workspace_id, "now", "1.2.3", RIVAL).encode())
    install(programs, "zstd", f'{REAL}cp "{marker}" "{marker_of(desk)}"; exec zstd "$@"')
    said = "Another archive was written under this key at the same time."
    assert refusal(desk, Kind.ARCHIVE, home, Corrupt) == said
    assert parse_marker(marker_of(desk).read_bytes()).totals == RIVAL


@pytest.mark.parametrize(
    ("script", "fault", "said"),
    [
        (READING + "echo odd >&2; exit 1", TryAgain, "The home changed while it was read: tar failed: odd"),
        (READING + "echo odd >&2; exit 2", JobFault, "tar failed: odd"),
        (READING + f"echo {FULL} >&2; exit 2", NoSpace, f"There is no room left ({FULL})."),
        (READING + "echo silent >&2; exit 0", JobFault, "tar failed: silent"),
        ("exit 2", JobFault, "tar failed: it does not say why"),
        (READING + "kill -9 $$", TryAgain, "tar was ended by SIGKILL."),
    ],
)
def test_a_tar_that_fails_fails_the_archive(
    desk: Desk, home: Path, programs: Path, script: str, fault: type[JobFault], said: str
) -> None:
    install(programs, "tar", script)
    assert refusal(desk, Kind.ARCHIVE, home, fault) == said
    assert list((desk.folder / "archive").iterdir()) == []


@pytest.mark.parametrize("change", ["touch new", "rm large", "rm -r folder"])
def test_a_tar_that_fails_over_a_change_is_tried_again(desk: Desk, home: Path, programs: Path, change: str) -> None:
    (home / "folder").mkdir()
    install(programs, "tar", f"{READING}{change}; echo odd >&2; exit 2")
    with pytest.raises(TryAgain, match="The home changed while it was read: tar failed: odd"):
        sent(desk, Surveyed(home), io.StringIO())


class Vanishing(Surveyed):
    """Loses a folder while it is surveyed for the second time, after that was seen and before it is looked into."""

    def survey(self, seen: Callable[[int, int], None]) -> Survey:
        def lose(_size: int, entries: int) -> None:
            if entries > 1:
                shutil.rmtree(self.folder / "folder", ignore_errors=True)

        return super().survey(lose if self._is_surveyed.is_set() else seen)


def test_a_home_that_changes_while_it_is_asked_whether_it_has_changed_has(
    desk: Desk, home: Path, programs: Path
) -> None:
    (home / "folder").mkdir()
    install(programs, "tar", f"{READING}echo odd >&2; exit 2")
    with pytest.raises(TryAgain, match="The home changed while it was read: tar failed: odd"):
        sent(desk, Vanishing(home), io.StringIO())


@pytest.mark.parametrize(
    ("script", "fault", "said"),
    [
        (READING + "echo odd >&2; exit 1", JobFault, "zstd failed: odd"),
        ("echo odd >&2; exit 1", JobFault, "zstd failed: odd"),
        ("kill -9 $$", TryAgain, "zstd was ended by SIGKILL."),
    ],
)
def test_a_zstd_that_fails_fails_the_archive(
    desk: Desk, home: Path, programs: Path, script: str, fault: type[JobFault], said: str
) -> None:
    install(programs, "zstd", script)
    assert refusal(desk, Kind.ARCHIVE, home, fault) == said
    assert list((desk.folder / "archive").iterdir()) == []


@pytest.mark.parametrize("begin", ["", READING])
def test_a_tar_that_fails_fails_the_restore(desk: Desk, home: Path, programs: Path, begin: str) -> None:
    desk.do(Kind.ARCHIVE, home)
    install(programs, "tar", f"{begin}echo odd >&2; exit 2")
    assert refusal(desk, Kind.RESTORE, fresh(desk.folder), JobFault) == "tar failed: odd"


def test_a_tar_that_says_much_is_not_held_up_by_it(desk: Desk, home: Path, programs: Path) -> None:
    totals = desk.do(Kind.ARCHIVE, home)
    install(programs, "tar", f"{READING}head -c {3 * MIB} /dev/zero")
    assert desk.do(Kind.VERIFY, home, proof=Proof.EXTRACT) == totals


def test_a_difference_is_a_corrupt_archive_and_a_killed_tar_says_nothing(
    desk: Desk, home: Path, programs: Path
) -> None:
    desk.do(Kind.ARCHIVE, home)
    install(programs, "tar", READING + "echo ./large: Contents differ >&2; exit 1")
    said = "The archive is not that of the home. tar failed: ./large: Contents differ"
    assert refusal(desk, Kind.VERIFY, home, Corrupt, proof=Proof.EXTRACT) == said
    install(programs, "tar", READING + "kill -9 $$")
    assert refusal(desk, Kind.VERIFY, home, TryAgain, proof=Proof.EXTRACT) == "tar was ended by SIGKILL."


def test_a_corrupt_archive_is_said_to_be_that_before_it_is_compared(desk: Desk, home: Path) -> None:
    desk.do(Kind.ARCHIVE, home)
    rewrite(desk, manifest_sha256="0" * 64)
    assert refusal(desk, Kind.VERIFY, home, Corrupt, proof=Proof.EXTRACT).startswith("The archive is not what was sent")


def test_a_zstd_that_ends_early_is_a_corrupt_archive(desk: Desk, home: Path, programs: Path) -> None:
    desk.do(Kind.ARCHIVE, home)
    install(programs, "zstd", "echo odd >&2; exit 1")
    said = "The archive cannot be decompressed (zstd failed: odd)."
    assert refusal(desk, Kind.VERIFY, home, Corrupt) == said


def test_a_restored_home_is_synced_and_one_that_could_not_be_is_no_success(
    desk: Desk, home: Path, programs: Path
) -> None:
    desk.do(Kind.ARCHIVE, home)
    restored = fresh(desk.folder)
    install(programs, "sync", f'echo "$@" > {desk.folder}/asked; echo " not now " >&2; exit 1')
    said = "The home cannot be made durable: not now"
    assert refusal(desk, Kind.RESTORE, restored, JobFault) == said
    assert (desk.folder / "asked").read_text() == f"--file-system {restored}\n"
