"""Times and sizes, as people write and read them."""

from datetime import UTC, datetime

import pytest
import typer

from codehub.cli import measures


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("10m", 600), ("2H", 7200), (" 3d ", 259200), ("0", 0)]
)
def test_times_are_written_with_their_unit(text: str, seconds: int) -> None:
    assert measures.duration(text) == seconds


@pytest.mark.parametrize(("text", "count"), [("512m", 2**29), ("2g", 2**31), ("1.5G", 3 * 2**29), ("1GiB", 2**30)])
def test_sizes_are_written_with_their_unit(text: str, count: int) -> None:
    assert measures.size(text) == count


@pytest.mark.parametrize("text", ["", "soon", "-1", "1w", "1.5h"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is no time"):
        measures.duration(text)


def test_idle_times_have_words_of_their_own() -> None:
    assert measures.idle_time("never") == 0
    assert measures.idle_time("default") is None
    assert measures.told_idle_time(0) == "never"
    assert measures.told_idle_time(7200) == "after 2 hours"


@pytest.mark.parametrize(
    ("count", "told"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (2**31, "2.0 GiB"), (2**41, "2.0 TiB")]
)
def test_sizes_are_told_in_the_largest_unit(count: int, told: str) -> None:
    assert measures.told_size(count) == told


def test_a_moment_to_come_is_told_by_how_long_it_takes() -> None:
    now = datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert measures.told_until("2026-01-31T12:10:00Z", now) == "in 10 min"
    assert measures.told_until("2026-01-31T11:59:00Z", now) == "soon"
    assert measures.told_until(None, now) == "soon"
    assert measures.told_time("2026-01-31T13:00:00+01:00") == "2026-01-31 12:00:00 UTC"
    assert measures.told_time(None) == "never"
