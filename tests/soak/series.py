"""Figures that are taken again and again, and whether they stay as they are."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Samples = Sequence[Mapping[str, float]]
"""Each with its moment, `at`."""


@dataclass(frozen=True)
class Bound:
    """How much a figure may grow over the second half of a run: a share of its median, or at least so much."""

    share: float
    least: float


BOUNDS = {
    "MB": Bound(0.05, 8),
    "descriptors": Bound(0.02, 8),
    "connections": Bound(0.02, 4),
    "WAL kB/s": Bound(0.25, 20),
    "tables MB": Bound(0.1, 4),
    "dead rows": Bound(0.25, 5000),
}
"""By what a figure is counted in, which its name ends with."""


@dataclass(frozen=True)
class Verdict:
    figure: str
    median: float
    growth: float
    """Over the second half, by the line that fits it best."""
    allowed: float

    @property
    def is_flat(self) -> bool:
        return self.growth <= self.allowed


def verdicts(samples: Samples) -> list[Verdict]:
    return [_verdict(figure, samples) for figure in samples[-1] if figure != "at"]


def _verdict(figure: str, samples: Samples) -> Verdict:
    """Of the second half only: at first caches fill and pools grow."""
    half = [each for each in samples[len(samples) // 2 :] if figure in each]
    times, values = [each["at"] for each in half], [each[figure] for each in half]
    slope = statistics.linear_regression(times, values).slope
    median = statistics.median(values)
    bound = BOUNDS[counted_in(figure)]
    return Verdict(figure, median, slope * (times[-1] - times[0]), max(bound.share * median, bound.least))


def counted_in(figure: str) -> str:
    return next(unit for unit in BOUNDS if figure.endswith(unit))
