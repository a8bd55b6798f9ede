"""Time, read in one place and passed on as an argument, so that tests own it."""

import time
from datetime import UTC, datetime


def now() -> datetime:
    """The time of day."""
    return datetime.now(UTC)


def elapsed() -> float:
    """Seconds on a clock that only ever moves on, also while the machine is suspended: leases run on that."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
