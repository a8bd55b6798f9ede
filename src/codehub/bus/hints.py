"""Hints between processes over Redis: "look now, instead of at your next interval". Any of them may be lost."""

import asyncio
import contextlib
from collections.abc import Callable
from enum import StrEnum
from uuid import UUID

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from codehub.clock import elapsed

log = structlog.get_logger()

RECONNECT_SECONDS = 1.0
PUBLISH_SECONDS = 0.5
"""How long whoever wakes somebody waits for Redis; after that it is away, and left alone for a moment."""

NAMED_AT_MOST = 16
"""More workspaces than these are one hint for all: a thousand wishes at once are one look, not a thousand messages."""


class Listener(StrEnum):
    OBSERVER = "ob"
    CONTROLLER = "wc"


class Hints:
    def __init__(self, redis: Redis, prefix: str) -> None:
        self._redis = redis
        self._prefix = prefix
        self._away = False
        self._ask_again_at = 0.0

    async def wake(self, listener: Listener, *workspace_ids: UUID) -> None:
        """Wake a coordinator, for these workspaces or, where none is named, for all. With Redis away it wakes by
        itself, a little later."""
        if self._away and elapsed() < self._ask_again_at:
            return
        try:
            async with asyncio.timeout(PUBLISH_SECONDS):
                for hint in workspace_ids if 0 < len(workspace_ids) <= NAMED_AT_MOST else ("",):
                    await self._redis.publish(f"{self._prefix}:{listener}", str(hint))
        except (RedisError, OSError) as error:
            self._note_away(error)
        else:
            self._note_back()

    async def listen(self, listener: Listener, heard: Callable[[UUID | None], None]) -> None:
        """Call back for every hint, for ever. After each connect `heard(None)`: hints may have been missed."""
        while True:
            try:
                async with self._redis.pubsub(ignore_subscribe_messages=True) as channel:
                    await channel.subscribe(f"{self._prefix}:{listener}")
                    self._note_back()
                    heard(None)
                    async for message in channel.listen():
                        heard(_workspace_id(message["data"]))
            except (RedisError, OSError) as error:
                self._note_away(error)
            await asyncio.sleep(RECONNECT_SECONDS)

    def _note_away(self, error: Exception) -> None:
        if not self._away:
            log.warning("redis away: hints are lost, passes come at their interval", error=repr(error))
        self._away = True
        self._ask_again_at = elapsed() + RECONNECT_SECONDS

    def _note_back(self) -> None:
        if self._away:
            log.info("redis back")
        self._away = False


def _workspace_id(data: bytes | str) -> UUID | None:
    with contextlib.suppress(ValueError):
        return UUID(data.decode() if isinstance(data, bytes) else data)
    return None
