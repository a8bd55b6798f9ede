"""A stage that fails, or is killed, fails the whole; nothing of it is committed, and the next run succeeds."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from io import StringIO
from pathlib import Path

import pytest

from codehub.job.archive import Pipe
from codehub.job.faults import TryAgain
from codehub.job.home import Found
from codehub.job.order import DirectoryPlace, Kind, encode_order
from codehub.job.place import Place, open_place
from codehub.job.progress import Progress
from tests.job.campaign import size
from tests.job.orders import NAME, Desk, desk_in, ended, fresh
from tests.job.sights import sight
from tests.job.test_pipe import Surveyed

MIB = 1024 * 1024
SECONDS = 60
NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Large enough to be met on its way, and nothing in it compresses."""
    home = fresh(tmp_path_factory.mktemp("stages"), "home")
    noise = random.Random(1)
    for number in range(4):
        (home / f"large-{number}").write_bytes(noise.randbytes(16 * MIB))
    for number in range(300):
        (home / f"small-{number}").write_bytes(noise.randbytes(100))
    return home


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_in(tmp_path)


def child_of(job: "subprocess.Popen[str]", program: str) -> int:
    """The process that the job runs as one of its stages, once it does."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        for task in Path(f"/proc/{job.pid}/task").glob("*/children"):
            for child in task.read_text().split():
                with suppress(OSError):
                    if Path(f"/proc/{child}/comm").read_text().strip() == program:
                        return int(child)
    raise TimeoutError(program)


def is_archived(desk: Desk, home: Path) -> None:
    """By a second run, on whatever the first has left."""
    totals = desk.run(Kind.ARCHIVE, home).totals
    assert desk.run(Kind.VERIFY, home, expected=totals).totals == totals
    assert isinstance(desk.place, DirectoryPlace)
    assert sorted(path.name for path in desk.place.folder.iterdir()) == [NAME, f"{NAME}.meta"]


@pytest.mark.parametrize("program", ["tar", "zstd"])
def test_an_archive_whose_program_was_killed_is_not_committed(desk: Desk, home: Path, program: str) -> None:
    with desk.begin(Kind.ARCHIVE, home) as job:
        os.kill(child_of(job, program), signal.SIGKILL)
        outcome = ended(job)
    assert (outcome.exit_code, outcome.message) == (75, f"{program} was ended by SIGKILL.")
    assert list((desk.folder / "archive").iterdir()) == []
    is_archived(desk, home)


@pytest.mark.parametrize("program", ["tar", "zstd"])
def test_a_restore_whose_program_was_killed_is_no_success(desk: Desk, home: Path, program: str) -> None:
    desk.do(Kind.ARCHIVE, home)
    with desk.begin(Kind.RESTORE, fresh(desk.folder)) as job:
        os.kill(child_of(job, program), signal.SIGKILL)
        outcome = ended(job)
    assert (outcome.exit_code, outcome.message) == (75, f"{program} was ended by SIGKILL.")
    assert desk.run(Kind.RESTORE, fresh(desk.folder, "again")).exit_code == 0
    assert sight(desk.folder / "again") == sight(home)


def test_a_job_that_is_called_off_leaves_nothing(desk: Desk, home: Path) -> None:
    with desk.begin(Kind.ARCHIVE, home) as job:
        child_of(job, "zstd")
        job.terminate()
        job.communicate(timeout=SECONDS)
    assert job.returncode == 75
    assert list((desk.folder / "archive").iterdir()) == []


@pytest.mark.parametrize("seed", range(size(small=6, large=100)))
def test_a_killed_job_leaves_a_whole_archive_or_none(desk: Desk, home: Path, seed: int) -> None:
    with desk.begin(Kind.ARCHIVE, home) as job:
        with suppress(subprocess.TimeoutExpired):
            job.wait(random.Random(seed).uniform(0.1, 1.5))
        job.kill()
        job.communicate(timeout=SECONDS)
    assert desk.run(Kind.VERIFY, home).exit_code in {0, 66}
    is_archived(desk, home)


def test_a_home_that_changes_meanwhile_is_tried_again_or_archived_as_it_was(desk: Desk, tmp_path: Path) -> None:
    home = fresh(tmp_path, "home")
    for number in range(500):
        (home / str(number)).write_bytes(bytes(number))
    done = threading.Event()

    def change() -> None:
        number = 0
        while not done.is_set():
            number += 1
            with (home / str(number % 500)).open("ab") as file:
                file.write(b"more")
            with suppress(FileNotFoundError):
                (home / f"passing-{number - 3}").unlink()
            (home / f"passing-{number}").touch()

    changer = threading.Thread(target=change)
    changer.start()
    try:
        outcomes = [desk.run(Kind.ARCHIVE, home) for _ in range(5)]
    finally:
        done.set()
        changer.join()
    assert {outcome.exit_code for outcome in outcomes} <= {0, 75}
    is_archived(desk, home)
    if all(outcome.exit_code for outcome in outcomes):
        desk.do(Kind.RESTORE, fresh(tmp_path))
        assert sight(tmp_path / "restored") == sight(home)


class Growing(Surveyed):
    """Gets another file once it was surveyed, before tar is told of the first."""

    def walk(self, *, look: bool = False) -> Iterator[Found]:
        walk = super().walk(look=look)
        if not look:
            (self.folder / "new").touch()
        return walk


def test_what_came_after_the_survey_is_noticed(desk: Desk, tmp_path: Path) -> None:
    noticed = pytest.raises(TryAgain, match="The home had 1 entries, and then 2")
    with closing(Growing(fresh(tmp_path, "home"))) as home, desk_place(desk).upload() as upload, noticed:
        Pipe(home, upload, 1, Progress(StringIO())).run()


def desk_place(desk: Desk) -> Place:
    return open_place(desk.order(Kind.ARCHIVE, desk.folder))


@NEEDS_ROOT
def test_a_full_archive_store_is_told_apart(desk: Desk, home: Path, small_disk: Path) -> None:
    outcome = desk.run(Kind.ARCHIVE, home, place=DirectoryPlace(small_disk))
    assert (outcome.exit_code, outcome.lines[-1]["fault"]) == (28, "no_space")
    assert list(small_disk.iterdir()) == []


@NEEDS_ROOT
def test_a_volume_that_fills_up_is_told_apart(desk: Desk, tmp_path: Path, small_disk: Path) -> None:
    """Each of these files holds one byte and takes a whole block, which nobody can know before."""
    home = fresh(tmp_path, "home")
    for number in range(600):
        (home / str(number)).write_bytes(b"x")
    desk.do(Kind.ARCHIVE, home)
    outcome = desk.run(Kind.RESTORE, small_disk)
    assert (outcome.exit_code, outcome.lines[-1]["fault"]) == (28, "no_space")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = fresh(tmp_path, "small")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=True)
    yield disk
    subprocess.run(["umount", disk], check=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_file_that_may_not_be_read_is_a_lasting_fault(desk: Desk, tmp_path: Path) -> None:
    home = fresh(tmp_path, "home")
    (home / "secret").touch(mode=0o000)
    assert desk.run(Kind.ARCHIVE, home).exit_code == 1
    assert list((desk.folder / "archive").iterdir()) == []


def test_a_missing_program_is_a_lasting_fault(desk: Desk, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(desk.folder))
    outcome = desk.run(Kind.ARCHIVE, home)
    assert (outcome.exit_code, outcome.message) == (1, "The program tar is not installed.")


@pytest.mark.parametrize("text", ["\n", "{}\n", "[]\n", '{"format": 2}\n', "null\n"])
def test_an_order_that_is_none_is_told_apart(tmp_path: Path, text: str) -> None:
    from codehub.job.run import main

    (tmp_path / "order.json").write_text(text)
    assert main(["archive", str(tmp_path / "order.json")]) == 64
    assert main(["archive", str(tmp_path / "missing.json")]) == 64
    assert main(["steal", str(tmp_path / "order.json")]) == 64


@pytest.mark.parametrize("share", [0, 0.5, 0.99])
def test_an_order_of_which_the_end_is_missing_is_a_passing_fault(desk: Desk, home: Path, share: float) -> None:
    from codehub.job.run import main

    whole = encode_order(desk.order(Kind.ARCHIVE, home))
    (desk.folder / "order.json").write_bytes(whole[: int(len(whole) * share)])
    assert main(["archive", str(desk.folder / "order.json")]) == 75


def test_an_order_that_does_not_come_is_not_waited_for_for_ever() -> None:
    """Whoever began the job is frozen before it has given the order: the pipe stays open."""
    quick = (
        "import sys; from codehub.job import order, run; order.ORDER_SECONDS = 0.2; sys.exit(run.main(sys.argv[1:]))"
    )
    reading, writing = os.pipe()
    with os.fdopen(reading), os.fdopen(writing, "wb") as giver:
        giver.write(b'{"format": 1')
        giver.flush()
        command = [sys.executable, "-c", quick, "archive", "/dev/stdin"]
        assert subprocess.run(command, stdin=reading, timeout=SECONDS, check=False).returncode == 75
