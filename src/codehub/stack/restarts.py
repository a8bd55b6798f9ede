"""Restarts that `codehub restart` asks a supervisor for: by a signal, answered in the state file."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from typing import NoReturn

import structlog

from codehub.errors import CodehubError
from codehub.stack.running import Restarted

log = structlog.get_logger()

ASKS = signal.SIGUSR1


class Restarts:
    """One at a time. What is asked while one is under way leads to another: whoever asks wants all of it to be new."""

    def __init__(self, roll: Callable[[], Awaitable[None]], changed: Callable[[], None]) -> None:
        self.told = Restarted()
        self._roll = roll
        self._changed = changed
        self._asked = asyncio.Event()

    def listen(self) -> None:
        asyncio.get_running_loop().add_signal_handler(ASKS, self._ask)

    async def run(self) -> NoReturn:
        """Until cancelled, once everything has started."""
        while True:
            await self._asked.wait()
            self._asked.clear()
            asked, failure = self.told.asked, ""
            try:
                await self._roll()
            except CodehubError as error:
                failure = str(error)
                log.warning("restart failed", reason=failure)
            else:
                log.info("restarted")
            self.told = Restarted(self.told.asked, asked, failure)
            self._changed()

    def _ask(self) -> None:
        self.told = Restarted(self.told.asked + 1, self.told.done, self.told.failure)
        self._asked.set()
        self._changed()
