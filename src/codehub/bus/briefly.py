"""Asking Redis for what one can do without: for a moment only, and not again for a while after it was away."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog
from redis.exceptions import RedisError

from codehub.clock import elapsed

T = TypeVar("T")
log = structlog.get_logger()

ASK_SECONDS = 0.2
"""How long an answer to a person waits for it."""
AWAY_SECONDS = 1.0


class Briefly:
    def __init__(self, what: str, seconds: float = ASK_SECONDS) -> None:
        self._what = what
        self._seconds = seconds
        self._ask_again_at = 0.0

    async def ask(self, asking: Callable[[], Awaitable[T]]) -> T | None:
        """What Redis answers; None while it is away."""
        if elapsed() < self._ask_again_at:
            return None
        try:
            async with asyncio.timeout(self._seconds):
                return await asking()
        except (RedisError, OSError) as error:
            log.debug("redis away", what=self._what, error=repr(error))
            self._ask_again_at = elapsed() + AWAY_SECONDS
            return None
