"""What grows is told from what only moves."""

import math

import pytest

from tests.soak.series import Samples, verdicts


def sampled(figure: str, *values: float) -> Samples:
    return [{"at": 15.0 * number, figure: value} for number, value in enumerate(values)]


@pytest.mark.parametrize(
    ("samples", "is_flat"),
    [
        (sampled("serve MB", *(200 for _ in range(40))), True),
        (sampled("serve MB", *(200 + 20 * math.sin(number) for number in range(40))), True),
        (sampled("serve MB", *(100 + 10 * min(number, 15) for number in range(40))), True),
        (sampled("serve MB", *(100 + 10 * number for number in range(40))), False),
        (sampled("proxy descriptors", *(1000 + 2 * number for number in range(40))), False),
        (sampled("proxy descriptors", *(2000 - number for number in range(40))), True),
    ],
    ids=["still", "waves", "fills at first", "leaks", "leaks slowly", "shrinks"],
)
def test_only_what_grows_in_the_second_half_is_not_flat(samples: Samples, *, is_flat: bool) -> None:
    (verdict,) = verdicts(samples)
    assert verdict.is_flat is is_flat
