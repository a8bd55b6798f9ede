"""The time of day, read in one place and passed on as an argument, so that tests own it."""

from datetime import UTC, datetime


def now() -> datetime:
    return datetime.now(UTC)
