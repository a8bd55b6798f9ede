"""When a coordinator makes its next pass: at a hint, or at an interval that is short while there is work."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass

JITTER = 0.1


@dataclass(frozen=True, slots=True)
class Rhythm:
    idle_seconds: float
    active_seconds: float
    active_for_seconds: float


class Ticker:
    """Hints that arrive while a pass is running lead to one more pass, however many they are."""

    def __init__(self, rhythm: Rhythm, elapsed: Callable[[], float], spread: Callable[[], float]) -> None:
        self._rhythm = rhythm
        self._elapsed = elapsed
        self._spread = spread
        self._hinted = asyncio.Event()
        self._hinted.set()  # the first pass is due at once
        self._active_until = 0.0

    def hint(self) -> None:
        self._hinted.set()
        self.stay_active()

    def stay_active(self) -> None:
        """Keep the short interval for a while: an operation is under way, or was a moment ago."""
        self._active_until = self._elapsed() + self._rhythm.active_for_seconds

    async def next(self) -> None:
        """Return when the next pass is due."""
        active = self._elapsed() < self._active_until
        interval = self._rhythm.active_seconds if active else self._rhythm.idle_seconds
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(interval * (1 + JITTER * (2 * self._spread() - 1))):
                await self._hinted.wait()
        self._hinted.clear()
