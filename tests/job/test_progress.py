"""What a job tells of itself while it runs, and how it ends."""

import io
import json
import signal
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from codehub.job import progress as progress_module
from codehub.job.faults import JobFault, NoSpace
from codehub.job.order import Kind, encode_order
from codehub.job.progress import Progress, Stage
from codehub.job.run import main
from tests.job.orders import Desk, desk_in, fresh
from tests.job.test_order import TOTALS

USAGE = "usage: codehub job {archive,restore,verify} ORDER\n"


@dataclass
class Clock:
    """The test's own."""

    now: float = 1.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress_module, "time", clock)
    return clock


def lines(output: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in output.getvalue().splitlines()]


def line(stage: str, **figures: object) -> dict[str, object]:
    nothing = {"stage": stage, "bytes": 0, "total": 0, "entries": 0, "rate": 0, "eta": None}
    return nothing | figures


def test_a_stage_is_told_at_once_and_then_twice_a_second(clock: Clock) -> None:
    output = io.StringIO()
    progress = Progress(output)
    progress.begin(Stage.ARCHIVE, 1000)
    for clock.now, size in ((1.25, 1), (1.4375, 2), (1.5, 100), (1.75, 300), (2.0, 600)):
        progress.tell(size, size // 10)
    assert lines(output) == [
        line("archive", total=1000),
        line("archive", bytes=100, total=1000, entries=10, rate=200, eta=4.5),
        line("archive", bytes=600, total=1000, entries=60, rate=600, eta=0.7),
    ]


def test_more_than_was_expected_is_soon_over(clock: Clock) -> None:
    output = io.StringIO()
    progress = Progress(output)
    progress.begin(Stage.VERIFY, 10)
    clock.now = 3.0
    progress.tell(20, 1)
    assert lines(output)[-1] == line("verify", bytes=20, total=20, entries=1, rate=10, eta=0.0)


def test_nobody_knows_how_long_a_stage_takes_that_has_no_end_yet(clock: Clock) -> None:
    output = io.StringIO()
    progress = Progress(output)
    progress.begin(Stage.VERIFY, 10)
    progress.begin(Stage.SURVEY)
    clock.now = 3.0
    progress.tell(20, 1)
    assert lines(output)[1:] == [line("survey"), line("survey", bytes=20, total=20, entries=1, rate=10)]


def test_a_stage_that_has_not_moved_has_no_time_left_to_tell(clock: Clock) -> None:
    output = io.StringIO()
    progress = Progress(output)
    progress.begin(Stage.RESTORE, 10)
    clock.now = 2.0
    progress.tell(0, 0)
    assert lines(output)[-1] == line("restore", total=10)


def test_a_job_ends_with_its_result_or_its_fault() -> None:
    output = io.StringIO()
    Progress(output).done(TOTALS)
    Progress(output).failed(NoSpace("There is no room."))
    Progress(output).failed(JobFault("It failed."))
    assert lines(output) == [
        {"result": asdict(TOTALS)},
        {"fault": "no_space", "message": "There is no room."},
        {"fault": "failed", "message": "It failed."},
    ]


def test_every_line_is_told_at_once(tmp_path: Path) -> None:
    with (tmp_path / "told").open("w") as output:
        Progress(output).begin(Stage.COMMIT)
        assert json.loads((tmp_path / "told").read_text())["stage"] == "commit"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Jobs of this process replace what it does when it is asked to end; afterwards it is as before."""
    before = signal.getsignal(signal.SIGTERM)
    yield desk_in(tmp_path)
    signal.signal(signal.SIGTERM, before)


def ordered(desk: Desk, kind: Kind, home: Path) -> list[str]:
    (desk.folder / "order.json").write_bytes(encode_order(desk.order(kind, home)))
    return [kind, str(desk.folder / "order.json")]


def test_a_job_says_what_it_did(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    home = fresh(desk.folder, "home")
    results = []
    for kind, folder in ((Kind.ARCHIVE, home), (Kind.VERIFY, home), (Kind.RESTORE, fresh(desk.folder))):
        assert main(ordered(desk, kind, folder)) == 0
        told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        results.append((list(dict.fromkeys(each["stage"] for each in told[:-1])), told[-1]["result"]["entries"]))
    assert results == [(["survey", "archive", "commit"], 1), (["verify"], 1), (["restore", "sync"], 1)]


def test_a_job_that_fails_says_why_to_both_sides(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(ordered(desk, Kind.RESTORE, fresh(desk.folder))) == 66
    said = "There is no archive under this key, or none that was finished."
    told = capsys.readouterr()
    assert json.loads(told.out) == {"fault": "missing", "message": said}
    assert told.err == f"codehub job restore: {said}\n"


@pytest.mark.parametrize("arguments", [[], ["archive"], ["steal", "order"], ["archive", "order", "more"]])
def test_a_command_that_is_none_is_explained(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 64
    assert capsys.readouterr().err == USAGE


def test_a_job_that_is_called_off_leaves_with_a_fault_that_passes(desk: Desk) -> None:
    main(ordered(desk, Kind.ARCHIVE, fresh(desk.folder, "home")))
    with pytest.raises(SystemExit) as left:
        signal.raise_signal(signal.SIGTERM)
    assert left.value.code == 75
