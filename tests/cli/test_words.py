"""What is told on the terminal: tables that hold any name, and how far something is."""

import pytest

from codehub.cli.progress import figures_of, summary
from codehub.cli.tables import facts, table
from codehub.cli.workspace_usage import bars, told
from codehub.cli.workspace_words import event

MIB = 2**20


def test_columns_are_as_wide_as_what_is_in_them() -> None:
    assert table(("name", "phase"), [("garden", "RUNNING"), ("정원", "STANDBY"), ("x", None)]) == (
        "NAME    PHASE\ngarden  RUNNING\n정원    STANDBY\nx       -"
    )


def test_what_is_not_known_of_one_thing_is_left_out() -> None:
    assert facts([("id", 1), ("memo", "two\nlines"), ("description", ""), ("scopes", ["a", "b"])]) == (
        "id      1\nmemo    two\n        lines\nscopes  a, b"
    )


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        ({}, ""),
        ({"bytes": None, "total": None}, ""),
        ({"bytes": MIB, "total": None, "rate": None, "eta": None}, "1.0 MiB"),
        (
            {"bytes": MIB, "total": 4 * MIB, "rate": MIB / 2, "eta": 6.0},
            "1.0 MiB of 4.0 MiB, 512.0 KiB/s, 6 s left",
        ),
        (
            {"bytes": MIB, "total": None, "rate": MIB / 2, "eta": None, "entries": 12345},
            "1.0 MiB, 12,345 files, 512.0 KiB/s",
        ),
    ],
)
def test_how_far_it_is_is_told_as_far_as_it_is_known(progress: dict[str, float | None], words: str) -> None:
    assert figures_of(progress) == words


def test_of_an_explanation_the_first_sentence_stands_beside_the_bar() -> None:
    said = "Stopped since 2026-03-02 14:05 UTC. Start it to go on; its files are kept."
    assert summary({"explanation": {"summary": said}}) == "Stopped since 2026-03-02 14:05 UTC"


def test_an_event_is_one_line() -> None:
    happened = {
        "at": "2026-03-02T14:05:00Z",
        "kind": "wish",
        "before": "STANDBY",
        "after": "RUNNING",
        "reason": "owner",
        "actor": "ada",
        "detail": "",
    }
    assert event(happened) == "2026-03-02 14:05:00 UTC  wish       STANDBY -> RUNNING  (owner, ada)"


def test_the_last_hour_is_a_line_of_bars_up_to_the_limit() -> None:
    at = {"at": "2026-03-02T14:05:00Z", "pids": 3, "home_bytes": MIB, "cpus_limit": 2.0, "memory_limit_bytes": 4 * MIB}
    samples = [{**at, "cpus": cpus, "memory_bytes": MIB} for cpus in (None, 0.0, 2.0, 1.0)]
    assert told(samples).splitlines() == [
        "processor  ▁█▅  1.00 of 2.00, 2.00 at most",
        "memory     ▃▃▃▃  1.0 MiB of 4.0 MiB, 1.0 MiB at most",
        "home       1.0 MiB",
        "processes  3",
        "last seen  2026-03-02 14:05:00 UTC",
    ]


def test_more_than_fits_is_told_by_the_greatest_of_several() -> None:
    assert bars([0.0] * 79 + [1.0], 1.0) == "▁" * 39 + "█"
    assert bars([0.0, 0.0], 0.0) == "▁▁"
