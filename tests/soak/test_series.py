"""What grows is told from what only moves."""

import math
from random import Random

import pytest

from tests.soak.series import Samples, counted_in, verdicts

HOUR = range(240)


def sampled(figure: str, *values: float) -> Samples:
    return [{"at": 15.0 * number, figure: value} for number, value in enumerate(values)]


@pytest.mark.parametrize(
    ("samples", "is_flat"),
    [
        (sampled("serve MB", *(200 for _ in HOUR)), True),
        (sampled("serve MB", *(200 + 20 * math.sin(number) for number in HOUR)), True),
        (sampled("serve MB", *(100 + min(number, 100) for number in HOUR)), True),
        (sampled("serve MB", *(200 if number < 230 else 900 for number in HOUR)), True),
        (sampled("serve MB", *(200 + 0.1 * number for number in HOUR)), False),
        (sampled("proxy descriptors", *(1000 + number for number in HOUR)), False),
        (sampled("proxy descriptors", *(2000 - number for number in HOUR)), True),
        (sampled("WAL kB/s", *(40 + 200 * (number % 20 == 0) for number in HOUR)), True),
        (sampled("WAL kB/s", *(40 + 0.5 * number for number in HOUR)), False),
    ],
    ids=[
        "still",
        "waves",
        "fills at first",
        "a spike at the end",
        "leaks 24 MB in an hour",
        "leaks slowly",
        "shrinks",
        "a rate with checkpoints",
        "a rate that grows",
    ],
)
def test_only_what_grows_in_the_second_half_is_not_flat(samples: Samples, *, is_flat: bool) -> None:
    (verdict,) = verdicts(samples)
    assert verdict.is_flat is is_flat


@pytest.mark.parametrize("seed", range(10))
def test_a_rate_that_only_jitters_is_flat(seed: int) -> None:
    chance = Random(seed)  # noqa: S311
    (verdict,) = verdicts(sampled("WAL kB/s", *(chance.expovariate(1 / 20) for _ in HOUR)))
    assert verdict.is_flat


def test_the_longest_unit_is_the_one_that_counts() -> None:
    assert (counted_in("memory tables MB"), counted_in("memory api MB")) == ("tables MB", "MB")


def test_what_could_not_be_taken_now_and_then_is_judged_by_the_rest() -> None:
    whole = sampled("serve MB", *(200 for _ in HOUR))
    (verdict,) = verdicts([{"at": each["at"]} if each["at"] % 60 else each for each in whole])
    assert verdict.is_flat
