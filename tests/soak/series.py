"""Figures that are taken again and again, and whether they stay as they are."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

Samples = Sequence[Mapping[str, float]]
"""Each with its moment, `at`. A figure that could not be taken is left out."""


@dataclass(frozen=True)
class Bound:
    """How much a figure may rise over the second half of a run: a share of its median, or so much where that is more.

    The second keeps small figures from being called growing for a page or a connection more."""

    share: float
    least: float


BOUNDS = {
    "MB": Bound(0.03, 4),
    "descriptors": Bound(0.02, 8),
    "connections": Bound(0.02, 4),
    "WAL kB/s": Bound(0.25, 5),
    "tables MB": Bound(0.05, 2),
    "dead rows": Bound(0.25, 2000),
}
"""By what a figure is counted in, which its name ends with."""
SURE = statistics.NormalDist().inv_cdf(0.999)


@dataclass(frozen=True)
class Verdict:
    figure: str
    median: float
    rise: float
    """Over the second half."""
    allowed: float
    is_sure: bool
    """That it rises at all, which chance alone would feign once in a thousand times."""

    @property
    def is_flat(self) -> bool:
        return self.rise <= self.allowed or not self.is_sure


def verdicts(samples: Samples) -> list[Verdict]:
    """Of the second half only: at first caches fill and pools grow. A figure needs two samples there."""
    half = second_half(samples)
    known = {figure: [each for each in half if figure in each] for each in half for figure in each if figure != "at"}
    return [_verdict(figure, taken) for figure, taken in known.items() if len(taken) > 1]


def second_half(samples: Samples) -> Samples:
    return [each for each in samples if each["at"] >= samples[-1]["at"] / 2]


def _verdict(figure: str, samples: Samples) -> Verdict:
    points = [(each["at"], each[figure]) for each in samples]
    median = statistics.median(value for _, value in points)
    bound = BOUNDS[counted_in(figure)]
    rise = slope(points) * (points[-1][0] - points[0][0])
    return Verdict(figure, median, rise, max(bound.share * median, bound.least), certainty(points) > SURE)


def slope(points: Sequence[tuple[float, float]]) -> float:
    """The median of the slopes between any two points (Theil and Sen): a spike, or a moment of trouble, moves the line
    of least squares and not this one."""
    return statistics.median((later - value) / (then - at) for (at, value), (then, later) in combinations(points, 2))


def certainty(points: Sequence[tuple[float, float]]) -> float:
    """That they rise (Mann and Kendall): by how many of its standard deviations more of the pairs rise than fall."""
    count = len(points)
    more = sum((later > value) - (later < value) for (_, value), (_, later) in combinations(points, 2))
    return more / math.sqrt(count * (count - 1) * (2 * count + 5) / 18)


def counted_in(figure: str) -> str:
    return max((unit for unit in BOUNDS if figure.endswith(unit)), key=len)
