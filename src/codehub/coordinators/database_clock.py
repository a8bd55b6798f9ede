"""The database's time, between two questions for it."""

from collections.abc import Callable
from datetime import datetime, timedelta


class DatabaseClock:
    """What the decisions compare are times of the database, and replicas' clocks differ. This one goes on from the last
    answer by the time that has passed here since, which no clock that is set anew can change."""

    def __init__(self, elapsed: Callable[[], float], now: datetime) -> None:
        self._elapsed = elapsed
        self.set(now)

    def set(self, now: datetime) -> None:
        self._read, self._read_at = now, self._elapsed()

    def now(self) -> datetime:
        return self._read + timedelta(seconds=self._elapsed() - self._read_at)
