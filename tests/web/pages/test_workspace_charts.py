"""What a workspace used, as a picture and in words."""

from datetime import UTC, datetime, timedelta

from codehub.model.usage import Sample
from codehub.web.pages.languages import LANGUAGES
from codehub.web.pages.telling import Telling
from codehub.web.pages.workspace_charts import HEIGHT, WIDTH, Chart, charts

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
GIB = 1024**3


def sample(minutes_ago: float, cpus: float | None = 0.5, memory: int = GIB, home: int | None = None) -> Sample:
    return Sample(NOW - timedelta(minutes=minutes_ago), cpus, 2.0, memory, 2 * GIB, 10, home)


def drawn(*samples: Sample) -> dict[str, Chart]:
    return {chart.name: chart for chart in charts(samples, 60, Telling(LANGUAGES["en"], NOW, UTC))}


def points(line: str) -> list[tuple[float, float]]:
    return [(float(left), float(down)) for left, _, down in (point.partition(",") for point in line.split())]


def test_nothing_is_drawn_of_what_is_not_known() -> None:
    assert drawn() == {}
    assert set(drawn(sample(1, cpus=None))) == {"Memory"}
    assert set(drawn(sample(1, home=5))) == {"Processors", "Memory", "Home"}


def test_the_newest_and_the_highest_value_and_the_limit_are_said() -> None:
    memory = drawn(sample(2, memory=3 * GIB // 2), sample(1))["Memory"]
    assert (memory.now, memory.highest, memory.limit) == ("1.1 GB", "1.6 GB", "2.1 GB")
    assert memory.limit_at is not None


def test_a_limit_that_is_far_above_all_values_is_said_and_not_drawn() -> None:
    processors = drawn(sample(1, cpus=0.1))["Processors"]
    assert (processors.limit, processors.limit_at) == ("2.00", None)


def test_every_point_is_in_the_picture() -> None:
    chart = drawn(sample(90, cpus=4.0), sample(30, cpus=0.0), sample(0, cpus=1.0))["Processors"]
    for line in chart.lines:
        assert all(-2 <= left <= WIDTH and 0 <= down <= HEIGHT for left, down in points(line))


def test_where_it_did_not_run_no_line_is_drawn() -> None:
    lines = drawn(sample(30), sample(29), sample(5), sample(4))["Memory"].lines
    assert [len(points(line)) for line in lines] == [2, 2]
    assert points(lines[0])[-1][0] == WIDTH / 60 * 31


def test_a_single_sample_can_be_seen() -> None:
    [line] = drawn(sample(1))["Memory"].lines
    assert len(points(line)) == 2


def test_each_part_of_the_hour_tells_its_highest_value() -> None:
    columns = drawn(sample(2.1, cpus=0.2), sample(2.2, cpus=0.7), sample(0.5, cpus=0.1))["Processors"].columns
    assert [column.said for column in columns] == ["11:57 · 0.70", "11:59 · 0.10"]
