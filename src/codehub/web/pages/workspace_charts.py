"""What a workspace used in the last hour, drawn by the server: one line for each of processor, memory and disk."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from codehub.bus.usage import KEPT_SECONDS
from codehub.model.usage import Sample
from codehub.web.pages.telling import Telling

WIDTH, HEIGHT = 600, 120
"""Of a chart, in units of its drawing."""
COLUMNS = 60
"""In so many parts of the hour a reader can ask for a value."""
HEADROOM = 1.15
GAP_SAMPLES = 3
"""Where so many are missing it did not run, and no line is drawn."""

Value = Callable[[Sample], float | None]


@dataclass(frozen=True, slots=True)
class Column:
    left: float
    width: float
    said: str


@dataclass(frozen=True, slots=True)
class Chart:
    name: str
    lines: Sequence[str]
    """Points, for each time that it ran."""
    columns: Sequence[Column]
    now: str
    highest: str
    limit: str
    limit_at: float | None
    """How far from above the limit is; None where it is not in the picture."""


def charts(samples: Sequence[Sample], every_seconds: float, told: Telling) -> list[Chart]:
    """Nothing where nothing is known."""
    say = told.language.say

    def processors(value: float) -> str:
        return say("usage.processors", count=f"{value:.2f}")

    wanted: tuple[tuple[str, Value, Value, Callable[[float], str]], ...] = (
        ("usage.cpu", lambda each: each.cpus, lambda each: each.cpus_limit, processors),
        ("usage.memory", lambda each: each.memory_bytes, lambda each: each.memory_limit_bytes, told.size),
        ("usage.disk", lambda each: each.home_bytes, lambda _: None, told.size),
    )
    gap = timedelta(seconds=GAP_SAMPLES * every_seconds)
    samples = sorted(samples, key=lambda each: each.at)  # two leaders may have looked, one after the other
    drawn = (_chart(say(key), samples, value, limit, gap, told, worded) for key, value, limit, worded in wanted)
    return [chart for chart in drawn if chart is not None]


def _chart(
    name: str,
    samples: Sequence[Sample],
    value: Value,
    limit: Value,
    gap: timedelta,
    told: Telling,
    worded: Callable[[float], str],
) -> Chart | None:
    points = [(each.at, number) for each in samples if (number := value(each)) is not None]
    if not points:
        return None
    most, highest = limit(samples[-1]), max(number for _, number in points)
    top = max(highest * HEADROOM, min(most or 0.0, highest * 4), 0.01)
    begin = told.now - timedelta(seconds=KEPT_SECONDS)

    def left(at: datetime) -> float:
        return round(max(0.0, (at - begin).total_seconds()) / KEPT_SECONDS * WIDTH, 1)

    def down(number: float) -> float:
        return round(HEIGHT - number / top * HEIGHT, 1)

    return Chart(
        name=name,
        lines=[_line([(left(at), down(number)) for at, number in run]) for run in _runs(points, gap)],
        columns=list(_columns([(at, left(at), number) for at, number in points], told, worded)),
        now=worded(points[-1][1]),
        highest=worded(highest),
        limit=worded(most) if most else "",
        limit_at=down(most) if most and most <= top else None,
    )


def _runs(points: Sequence[tuple[datetime, float]], gap: timedelta) -> Iterator[list[tuple[datetime, float]]]:
    """Cut where it did not run."""
    run = [points[0]]
    for point in points[1:]:
        if point[0] - run[-1][0] > gap:
            yield run
            run = []
        run.append(point)
    yield run


def _line(points: Sequence[tuple[float, float]]) -> str:
    """A single point is a short line: nothing would be drawn of it otherwise."""
    drawn = points if len(points) > 1 else [(points[0][0] - 2, points[0][1]), *points]
    return " ".join(f"{left},{down}" for left, down in drawn)


def _columns(
    points: Sequence[tuple[datetime, float, float]], told: Telling, worded: Callable[[float], str]
) -> Iterator[Column]:
    """The highest value of each part of the hour, for whoever points at it."""
    width = WIDTH / COLUMNS
    found: dict[int, tuple[datetime, float]] = {}
    for at, left, number in points:
        column = min(int(left // width), COLUMNS - 1)
        if column not in found or number > found[column][1]:
            found[column] = (at, number)
    for column, (at, number) in found.items():
        yield Column(round(column * width, 1), width, f"{told.moment(at)} · {worded(number)}")
