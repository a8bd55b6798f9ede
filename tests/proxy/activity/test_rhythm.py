"""What recurs like clockwork, and what does not."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codehub.proxy.activity.rhythm import BEATS, MOST_KEYS, Rhythm


def verdicts(times: Iterable[float]) -> list[bool]:
    rhythm = Rhythm()
    return [rhythm.is_clockwork("what", at) for at in times]


@given(
    st.floats(1.5, 600),
    st.lists(st.floats(-0.04, 0.04), min_size=8, max_size=40),
    st.integers(1, 4),
)
def test_a_timer_is_known_after_three_equal_distances_however_many_messages_it_sends(
    period: float, jitter: list[float], at_once: int
) -> None:
    times = [
        beat * period + late * period + number * 0.001 for beat, late in enumerate(jitter) for number in range(at_once)
    ]
    told = verdicts(times)
    assert not any(told[: BEATS * at_once])
    assert all(told[(BEATS + 1) * at_once :])


@pytest.mark.parametrize(
    "times",
    [
        (0,),
        (0, 3, 4.2, 9, 11, 30, 31.5, 36),
        (0, 5, 10, 35, 41, 90, 92),
        (0, 0.1, 0.2, 0.3, 2, 2.1, 7, 7.2, 7.3, 8.5),
    ],
)
def test_a_person_is_no_clock(times: tuple[float, ...]) -> None:
    assert not any(verdicts(times))


def test_a_clock_that_stops_is_one_no_longer() -> None:
    assert verdicts((0, 5, 10, 15, 20, 48, 52)) == [False, False, False, True, True, False, False]


def test_memory_is_bounded_by_forgetting_what_was_heard_first() -> None:
    rhythm = Rhythm()
    for number in range(10 * MOST_KEYS):
        rhythm.is_clockwork(number, float(number))
    assert len(rhythm._heard) == MOST_KEYS


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=20))
def test_no_time_is_too_odd(times: list[float]) -> None:
    assert len(verdicts(times)) == len(times)
