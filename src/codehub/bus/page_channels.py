"""The one connection on which a process hears of events for the pages that it serves."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import structlog
from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from codehub.bus.page_events import EVERYBODY

log = structlog.get_logger()

PATTERN = "*"
"""As a channel: those of all users."""
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
        self._confirmed: dict[str, asyncio.Future[None]] = {}
        self._unconfirmed: set[str] = set()
        """Of those that were asked for when the connection was made."""
        self._turn = asyncio.Lock()
        self._pubsub: PubSub | None = None

    async def want(self, channel: str) -> None:
        """Hear this channel until it is given up as often as it was wanted: from now on, or from when Redis is back,
        after a `gap`. The channel is a user's id, or `PATTERN`."""
        self._wanted[channel] += 1
        try:
            await self._subscribe(channel)
        except BaseException:
            self.give_up(channel)
            raise

    def give_up(self, channel: str) -> None:
        """Heard no more from some time on: whoever leaves waits for nothing."""
        self._wanted[channel] -= 1
        if not self._wanted[channel]:
            del self._wanted[channel]

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
            loop = asyncio.get_running_loop()
            self._confirmed = {channel: loop.create_future() for channel in self._wanted}
            self._unconfirmed = {EVERYBODY, *self._wanted}
            async with asyncio.timeout(SILENCE_SECONDS):
                await pubsub.subscribe(f"{self._prefix}:{EVERYBODY}")
                for channel in self._wanted:
                    await self._ask(pubsub, channel)
            self._pubsub = pubsub

    async def _hear(self, pubsub: PubSub) -> None:
        tending = asyncio.create_task(self._tend(pubsub), name="tend page channels")
        try:
            async with asyncio.timeout(SILENCE_SECONDS) as patience:
                async for message in pubsub.listen():
                    patience.reschedule(asyncio.get_running_loop().time() + SILENCE_SECONDS)
                    self._take(message)
        finally:
            tending.cancel()
            await asyncio.wait([tending])

    def _take(self, message: dict[str, Any]) -> None:
        kind, channel = message["type"], message["channel"]
        name = channel.decode()[len(self._prefix) + 1 :] if channel else ""
        match kind:
            case "message":
                self._heard(name, message["data"])
            case "pmessage" if name != EVERYBODY:  # that one is heard by its own name
                self._heard(PATTERN, message["data"])
            case "subscribe" | "psubscribe":
                self._confirm(name)
            case _:
                pass  # pongs, and what nobody wants any more

    def _confirm(self, channel: str) -> None:
        if channel in self._confirmed and not self._confirmed[channel].done():
            self._confirmed[channel].set_result(None)
        if channel in self._unconfirmed:
            self._unconfirmed.discard(channel)
            if not self._unconfirmed:  # from now on nothing is missed, and what was before can be read
                self._gap()

    async def _subscribe(self, channel: str) -> None:
        async with self._turn:
            if self._pubsub is None:
                return
            confirmed = self._confirmed.get(channel)
            if confirmed is None:
                confirmed = self._confirmed[channel] = asyncio.get_running_loop().create_future()
                with suppress(RedisError, OSError):
                    await self._ask(self._pubsub, channel)
        with suppress(TimeoutError):
            async with asyncio.timeout(CONFIRM_SECONDS):
                await asyncio.shield(confirmed)  # one who gives up waiting ends it for nobody else

    async def _ask(self, pubsub: PubSub, channel: str) -> None:
        if channel == PATTERN:
            await pubsub.psubscribe(f"{_escaped(self._prefix)}:{PATTERN}")
        else:
            await pubsub.subscribe(f"{self._prefix}:{channel}")

    async def _tend(self, pubsub: PubSub) -> None:
        """Give up what nobody wants any more, and ping, so that a connection that is alive is never silent for long.
        One that is dead is noticed by its silence."""
        with suppress(RedisError, OSError):
            while True:
                await asyncio.sleep(PING_SECONDS)
                async with self._turn:
                    await self._leave_unwanted(pubsub)
                await pubsub.ping()

    async def _leave_unwanted(self, pubsub: PubSub) -> None:
        unwanted = self._confirmed.keys() - self._wanted.keys()
        for channel in unwanted:
            del self._confirmed[channel]
            self._unconfirmed.discard(channel)
        if PATTERN in unwanted:
            await pubsub.punsubscribe(f"{_escaped(self._prefix)}:{PATTERN}")
        named = [f"{self._prefix}:{channel}" for channel in unwanted - {PATTERN}]
        if named:
            await pubsub.unsubscribe(*named)


def _escaped(prefix: str) -> str:
    return re.sub(r"([*?\[\]\\])", r"\\\1", prefix)
