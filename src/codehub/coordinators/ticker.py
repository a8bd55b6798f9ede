"""When a coordinator makes its next pass: at a hint, or at an interval that is short while there is work."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass

JITTER = 0.1
LONGEST_REST = 0.1
"""After a pass, hints gather for as long as it took, but no longer than this: in a burst of work passes become fewer
and larger, and a single hint waits for a few milliseconds at most."""


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
        self._began = elapsed()

    def hint(self) -> None:
        self._hinted.set()
        self.stay_active()

    def stay_active(self) -> None:
        """Keep the short interval for a while: an operation is under way, or was a moment ago."""
        self._active_until = self._elapsed() + self._rhythm.active_for_seconds

    async def next(self) -> None:
        """Return when the next pass is due. All that happens until the next call counts as the pass."""
        ended = self._elapsed()
        rested = ended + min(ended - self._began, LONGEST_REST)
        active = ended < self._active_until
        interval = self._rhythm.active_seconds if active else self._rhythm.idle_seconds
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(interval * (1 + JITTER * (2 * self._spread() - 1))):
                await self._hinted.wait()
        await asyncio.sleep(max(0.0, rested - self._elapsed()))
        self._hinted.clear()
        self._began = self._elapsed()
