"""How long an account or an address has to wait after failed logins before the next one is looked at."""

from datetime import datetime, timedelta

FIRST = timedelta(seconds=5)
LONGEST = timedelta(minutes=5)
"""A wait that an owner can sit out who has to share an address with whoever guesses."""


def next_try_at(failures: int, free: int, newest: datetime | None) -> datetime | None:
    """When the next try is looked at: at once for the first `free` failures, then after a wait that doubles."""
    if newest is None or failures < free:
        return None
    doublings = min(failures - free, LONGEST.seconds.bit_length())
    return newest + min(FIRST * (1 << doublings), LONGEST)
