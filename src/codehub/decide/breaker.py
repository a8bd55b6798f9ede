"""A circuit breaker per shared service: when it is away, that is one fault and one place that tries again."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class BreakerPolicy:
    failures_to_open: int = 3
    """So many calls in a row that found nobody there."""
    try_again_after: timedelta = timedelta(seconds=2)
    longest_pause: timedelta = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Breaker:
    since: datetime
    """Since when the service has been available, or away."""
    failures: int = 0
    is_open: bool = False
    tried_at: datetime | None = None

    def allows(self, now: datetime, policy: BreakerPolicy) -> bool:
        """Whether a call may be made: any while closed; while open only one trial after each pause, which the caller
        records with `trying` before it calls."""
        if not self.is_open or self.tried_at is None:
            return True
        doublings = min(self.failures - policy.failures_to_open, 16)
        pause = min(policy.try_again_after * (1 << doublings), policy.longest_pause)
        return now - self.tried_at >= pause


def trying(breaker: Breaker, now: datetime) -> Breaker:
    """A call goes out. While the breaker is open this begins the next pause, so that nobody else tries beside it."""
    return replace(breaker, tried_at=now)


def answered(breaker: Breaker, now: datetime) -> Breaker:
    """The service did something or refused it: either way it is there."""
    return Breaker(since=now) if breaker.is_open else replace(breaker, failures=0)


def unanswered(breaker: Breaker, now: datetime, policy: BreakerPolicy) -> Breaker:
    failures = breaker.failures + 1
    if breaker.is_open or failures < policy.failures_to_open:
        return replace(breaker, failures=failures, tried_at=now)
    return Breaker(since=now, failures=failures, is_open=True, tried_at=now)
