"""The circuit breaker: when it opens, when it lets a trial through, when it closes."""

from datetime import timedelta

import pytest

from codehub.decide.breaker import Breaker, BreakerPolicy, answered, trying, unanswered
from tests.decide.builders import T0, after

POLICY = BreakerPolicy()
CLOSED = Breaker(since=after(-60))


def opened(failures: int = 3) -> Breaker:
    """A breaker that found nobody so many times in a row, each time at T0."""
    breaker = CLOSED
    for _ in range(failures):
        breaker = unanswered(breaker, T0, POLICY)
    return breaker


def test_by_default_three_failures_open_it_and_pauses_grow_from_two_to_thirty_seconds() -> None:
    assert BreakerPolicy(3, timedelta(seconds=2), timedelta(seconds=30)) == POLICY


def test_a_new_breaker_is_closed_and_allows_every_call() -> None:
    assert Breaker(since=after(-60), failures=0, is_open=False, tried_at=None) == CLOSED
    assert CLOSED.allows(T0, POLICY)


def test_failures_below_the_limit_leave_it_closed_since_when_it_was() -> None:
    assert opened(1) == Breaker(since=after(-60), failures=1, is_open=False, tried_at=T0)
    assert opened(2) == Breaker(since=after(-60), failures=2, is_open=False, tried_at=T0)


@pytest.mark.parametrize("failures", [0, 1, 2])
def test_while_closed_every_call_is_allowed_at_once(failures: int) -> None:
    assert opened(failures).allows(T0, POLICY)


def test_the_failure_that_reaches_the_limit_opens_it_from_that_moment() -> None:
    third = unanswered(opened(2), after(5), POLICY)
    assert third == Breaker(since=after(5), failures=3, is_open=True, tried_at=after(5))


@pytest.mark.parametrize(
    ("failures", "pause"), [(3, 2), (4, 4), (5, 8), (6, 16), (7, 30), (8, 30), (19, 30), (20, 30), (2000, 30)]
)
def test_while_open_a_trial_is_allowed_after_a_pause_that_doubles_up_to_its_longest(failures: int, pause: int) -> None:
    breaker = opened(failures)
    assert not breaker.allows(T0, POLICY)
    assert not breaker.allows(after(pause - 0.001), POLICY)
    assert breaker.allows(after(pause), POLICY)


def test_doubling_stops_by_itself_where_the_longest_pause_would_not_end_it() -> None:
    patient = BreakerPolicy(failures_to_open=1, try_again_after=timedelta(seconds=1), longest_pause=timedelta(days=365))
    most = Breaker(since=T0, failures=1 + 16, is_open=True, tried_at=T0)
    more = Breaker(since=T0, failures=1 + 17, is_open=True, tried_at=T0)
    for breaker in (most, more):
        assert not breaker.allows(after(2**16 - 1), patient)
        assert breaker.allows(after(2**16), patient)


def test_a_failed_trial_counts_but_does_not_move_the_time_since_when_it_is_away() -> None:
    assert unanswered(opened(), after(10), POLICY) == Breaker(since=T0, failures=4, is_open=True, tried_at=after(10))


def test_while_a_trial_is_out_no_other_is_allowed_until_a_whole_pause_has_passed() -> None:
    breaker = opened()
    assert breaker.allows(after(2), POLICY)
    on_trial = trying(breaker, after(2))
    assert on_trial == Breaker(since=T0, failures=3, is_open=True, tried_at=after(2))
    assert not on_trial.allows(after(3.999), POLICY)
    assert on_trial.allows(after(4), POLICY)


def test_an_answer_closes_it_and_the_service_is_available_from_then() -> None:
    assert answered(opened(), after(10)) == Breaker(since=after(10), failures=0, is_open=False, tried_at=None)


def test_an_answer_while_closed_forgives_the_failures_and_moves_nothing_else() -> None:
    assert answered(opened(2), after(10)) == Breaker(since=after(-60), failures=0, is_open=False, tried_at=T0)


def test_only_failures_in_a_row_open_it() -> None:
    breaker = unanswered(answered(opened(2), T0), T0, POLICY)
    assert not breaker.is_open
