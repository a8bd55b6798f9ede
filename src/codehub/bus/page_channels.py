"""The one connection on which a process hears of events for the pages that it serves."""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import structlog
from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from codehub.bus.page_events import EVERYBODY

log = structlog.get_logger()

RECONNECT_SECONDS = 1.0
PING_SECONDS = 5.0
SILENCE_SECONDS = 15.0
"""A connection on which not even a ping was answered for this long is dead."""
CONFIRM_SECONDS = 1.0
"""How long a page waits to be heard for; after that Redis is away, and the page is told when it is back."""


class PageChannels:
    """Hears the channels that somebody wants at the moment, over one connection however many there are.

    `heard(channel, message)` is called for each message, `gap()` after each time in which some may have been missed."""

    def __init__(self, redis: Redis, prefix: str, heard: Callable[[str, bytes], None], gap: Callable[[], None]) -> None:
        self._redis = redis
        self._prefix = prefix
        self._heard = heard
        self._gap = gap
        self._wanted: Counter[str] = Counter()
        self._confirmed: dict[str, asyncio.Event] = {}
        self._unconfirmed: set[str] = set()
        """Of those that were asked for when the connection was made."""
        self._turn = asyncio.Lock()
        self._pubsub: PubSub | None = None

    @asynccontextmanager
    async def wanting(self, channel: str) -> AsyncIterator[None]:
        """While this lasts, the channel is heard: from the beginning on, or from when Redis is back, after a `gap`.
        The channel is a user's id, or a pattern of them."""
        self._wanted[channel] += 1
        try:
            await self._subscribe(channel)
            yield
        finally:
            self._wanted[channel] -= 1
            if not self._wanted[channel]:
                del self._wanted[channel]
                await self._unsubscribe(channel)

    async def listen(self) -> None:
        """For ever."""
        away = False
        while True:
            try:
                async with self._redis.pubsub() as pubsub:
                    await self._begin(pubsub)
                    if away:
                        log.info("redis back: pages are told of changes again")
                    away = False
                    try:
                        await self._hear(pubsub)
                    finally:
                        self._pubsub = None  # before it is closed: nobody is to open it again
            except (RedisError, OSError) as error:
                if not away:
                    log.warning("redis away: pages are not told of changes", error=repr(error))
                away = True
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _begin(self, pubsub: PubSub) -> None:
        async with self._turn:
            self._confirmed = {channel: asyncio.Event() for channel in self._wanted}
            self._unconfirmed = {EVERYBODY, *self._wanted}
            async with asyncio.timeout(SILENCE_SECONDS):
                await pubsub.subscribe(f"{self._prefix}:{EVERYBODY}")
                for channel in self._wanted:
                    await self._ask(pubsub, channel)
            self._pubsub = pubsub

    async def _hear(self, pubsub: PubSub) -> None:
        pinging = asyncio.create_task(_ping(pubsub), name="ping redis")
        try:
            async with asyncio.timeout(SILENCE_SECONDS) as patience:
                async for message in pubsub.listen():
                    patience.reschedule(asyncio.get_running_loop().time() + SILENCE_SECONDS)
                    self._take(message)
        finally:
            pinging.cancel()
            await asyncio.wait([pinging])

    def _take(self, message: dict[str, Any]) -> None:
        kind, channel = message["type"], message["channel"]
        name = channel.decode()[len(self._prefix) + 1 :] if channel else ""
        match kind:
            case "message":
                self._heard(name, message["data"])
            case "pmessage" if name != EVERYBODY:  # that one is heard by its own name
                self._heard("*", message["data"])
            case "subscribe" | "psubscribe":
                self._confirm(name)
            case _:
                pass  # pongs, and what nobody wants any more

    def _confirm(self, channel: str) -> None:
        if channel in self._confirmed:
            self._confirmed[channel].set()
        if channel in self._unconfirmed:
            self._unconfirmed.discard(channel)
            if not self._unconfirmed:  # from now on nothing is missed, and what was before can be read
                self._gap()

    async def _subscribe(self, channel: str) -> None:
        async with self._turn:
            if self._pubsub is None:
                return
            confirmed = self._confirmed.setdefault(channel, asyncio.Event())
            if not confirmed.is_set():
                with suppress(RedisError, OSError):
                    await self._ask(self._pubsub, channel)
        with suppress(TimeoutError):
            async with asyncio.timeout(CONFIRM_SECONDS):
                await confirmed.wait()

    async def _ask(self, pubsub: PubSub, channel: str) -> None:
        if channel == "*":
            await pubsub.psubscribe(f"{_escaped(self._prefix)}:*")
        else:
            await pubsub.subscribe(f"{self._prefix}:{channel}")

    async def _unsubscribe(self, channel: str) -> None:
        async with self._turn:
            if channel in self._wanted or self._pubsub is None:
                return  # wanted again meanwhile, or forgotten with the connection
            self._confirmed.pop(channel, None)
            self._unconfirmed.discard(channel)
            with suppress(RedisError, OSError):
                if channel == "*":
                    await self._pubsub.punsubscribe(f"{_escaped(self._prefix)}:*")
                else:
                    await self._pubsub.unsubscribe(f"{self._prefix}:{channel}")


async def _ping(pubsub: PubSub) -> None:
    """So that a connection that is alive is never silent for long. One that is dead is noticed by its silence."""
    with suppress(RedisError, OSError):
        while True:
            await asyncio.sleep(PING_SECONDS)
            await pubsub.ping()


def _escaped(prefix: str) -> str:
    return re.sub(r"([*?\[\]\\])", r"\\\1", prefix)
