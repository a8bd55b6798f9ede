"""How busy a container kept its processors between two looks."""

import pytest

from codehub.decide.usage import Counted, cpus_used


@pytest.mark.parametrize(
    ("before", "now", "used"),
    [
        (Counted(10, 100), Counted(25, 110), 1.5),
        (Counted(10, 100), Counted(10, 110), 0),
        (None, Counted(10, 100), None),
        (Counted(10, 100), Counted(9, 110), None),  # started again
        (Counted(10, 100), Counted(11, 100), None),
    ],
)
def test_it_is_the_time_used_in_the_time_that_passed(before: Counted | None, now: Counted, used: float | None) -> None:
    assert cpus_used(before, now) == used
