"""The idle times that a form offers."""

from collections.abc import Sequence

from codehub.decide.idle import NEVER

STANDBY_AFTER = (600, 1800, 3600, 4 * 3600, 12 * 3600, NEVER)
ARCHIVE_AFTER = (3600, 86400, 7 * 86400, 30 * 86400, NEVER)


def within(choices: Sequence[int], ceiling: int) -> list[int]:
    """Never is above every ceiling."""
    return [each for each in choices if ceiling == NEVER or (each != NEVER and each <= ceiling)]
