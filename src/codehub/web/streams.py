"""The event streams that this process serves: what is heard once is passed on to everybody whom it concerns."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import structlog
from redis.asyncio import Redis

from codehub.bus.live_notes import LiveNotes
from codehub.bus.page_channels import PATTERN, PageChannels
from codehub.bus.page_events import EVERYBODY, PageEvent, to_json
from codehub.decide.idle import IdlePolicy
from codehub.decide.show import show
from codehub.model.accounts import Caller
from codehub.store.away import FOREIGN
from codehub.store.pages import Page, pages
from codehub.store.reads import Reads
from codehub.store.standing import standing

log = structlog.get_logger(__name__)

Send = Callable[[bytes], Awaitable[None]]

EVERYONES = PATTERN
"""The channel of those who see what everybody has."""
WAITING_EVENTS = 256
"""A reader that has fallen so far behind is cut off; it comes back and begins with a snapshot."""
AWAY_SECONDS = 1.0
SNAPSHOTS_AT_ONCE = 4
"""When Redis comes back all streams want one: they leave connections of the database for others."""
RETRY_MILLISECONDS = (1000, 3000)
"""When a reader comes back: not all in the same moment."""


@dataclass(eq=False, slots=True)
class Stream:
    """One reader. `waiting` holds what it has not been sent yet; events are written once and shared by all streams."""

    caller: Caller
    channel: str
    begins_with: bytes | None
    """What is said before a snapshot, where one is to be sent."""
    waiting: list[bytes] = field(default_factory=list)
    is_over: bool = False
    fell_behind: bool = False
    _stirred: asyncio.Future[None] | None = None

    def tell(self, event: bytes) -> None:
        if len(self.waiting) >= WAITING_EVENTS:
            self.fell_behind = True
            self.end()
        if not self.is_over:
            self.waiting.append(event)
            self._stir()

    def begin_anew(self, event: bytes) -> None:
        """What waits may not be all."""
        self.begins_with = event
        self._stir()

    def end(self) -> None:
        self.is_over = True
        self.waiting.clear()
        self._stir()

    def _stir(self) -> None:
        if self._stirred is not None and not self._stirred.done():
            self._stirred.set_result(None)

    async def stirs(self, seconds: float) -> bool:
        """Whether there is something to do, within so many seconds."""
        if not self.waiting and self.begins_with is None and not self.is_over:
            loop = asyncio.get_running_loop()
            self._stirred = loop.create_future()
            patience = loop.call_later(seconds, self._stir)
            try:
                await self._stirred
            finally:
                patience.cancel()
                self._stirred = None
        return bool(self.waiting) or self.begins_with is not None or self.is_over


class Streams:
    def __init__(self, reads: Reads, redis: Redis, prefix: str, policy: IdlePolicy, recheck: float) -> None:
        self._reads = reads
        self._notes = LiveNotes(redis, prefix)
        self._policy = policy
        self._recheck_seconds = recheck
        self._open: dict[str, set[Stream]] = {}
        self._channels = PageChannels(redis, prefix, self._heard, self._look_again)
        self._turn = asyncio.Semaphore(SNAPSHOTS_AT_ONCE)
        self._events = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        tasks = [
            asyncio.create_task(self._channels.listen(), name="page channels"),
            asyncio.create_task(self._watch_callers(), name="callers of streams"),
        ]
        try:
            yield
        finally:
            self.close_all()
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def open(self, caller: Caller, *, everyones: bool) -> Stream:
        """A stream that hears of everything from now on; what was before is in its first snapshot. To be closed."""
        channel = EVERYONES if everyones else str(caller.user_id)
        await self._channels.want(channel)
        retry = b"retry: %d\n\n" % random.randint(*RETRY_MILLISECONDS)  # noqa: S311 (spreads, hides nothing)
        stream = Stream(caller, channel, retry)
        self._open.setdefault(channel, set()).add(stream)
        return stream

    def close(self, stream: Stream) -> None:
        stream.end()
        self._open[stream.channel].discard(stream)
        if not self._open[stream.channel]:
            del self._open[stream.channel]
        self._channels.give_up(stream.channel)

    def close_all(self) -> None:
        """Every reader is to connect again, elsewhere."""
        for stream in self._all():
            stream.end()

    async def serve(self, stream: Stream, send: Send, heartbeat_seconds: float) -> None:
        """Send this reader what concerns it, until it is over. What was sent is held by nobody: thousands of readers
        that are idle would otherwise each keep their last event."""
        while not stream.is_over:
            if stream.begins_with is not None:
                await self._begin(stream, send)
            while stream.waiting and stream.begins_with is None:
                await send(stream.waiting.pop(0))
            if not await stream.stirs(heartbeat_seconds):
                await send(self._event("heartbeat", b"{}"))

    async def _begin(self, stream: Stream, send: Send) -> None:
        """All that the reader may see, in parts where it is much. Whatever was heard before is in it, and what changes
        while it is read follows it. With the database away it is tried again until it can be read."""
        if stream.begins_with:
            await send(stream.begins_with)
        stream.begins_with, part = None, 0
        stream.waiting.clear()
        whose = None if stream.channel == EVERYONES else stream.caller.user_id
        try:
            async for page in pages(self._reads, whose, self._turn):
                part += 1
                await send(self._event("snapshot", await self._part(page, part)))
        except TimeoutError:
            raise  # the reader's, not the database's
        except FOREIGN as error:
            log.debug("snapshot put off", error=repr(error))
            await send(self._event("heartbeat", b"{}"))
            await asyncio.sleep(AWAY_SECONDS)
            stream.begin_anew(b"")

    async def _part(self, page: Page, number: int) -> bytes:
        live = await self._notes.about(page.workspaces)
        shown = [show(each, live.get(each.id), self._policy) for each in page.workspaces]
        return to_json({"workspaces": shown, "part": number, "complete": page.is_last})

    def _event(self, name: str, data: bytes) -> bytes:
        self._events += 1
        return b"id: %d\nevent: %b\ndata: %b\n\n" % (self._events, name.encode(), data)

    def _heard(self, channel: str, message: bytes) -> None:
        name, _, data = message.partition(b"\n")
        event = self._event(name.decode(), data)
        if channel == EVERYBODY:
            for stream in self._all():
                stream.begin_anew(event)
        for stream in self._open.get(channel, ()):
            stream.tell(event)

    def _look_again(self) -> None:
        self._heard(EVERYBODY, PageEvent.RESYNC.encode() + b"\n{}")

    def _all(self) -> Iterable[Stream]:
        return [stream for streams in self._open.values() for stream in streams]

    async def _watch_callers(self) -> None:
        """End the streams of those whose session or token is no longer good, or who see more than they may. While the
        database is away nobody is known to have lost anything."""
        while True:
            await asyncio.sleep(self._recheck_seconds)
            streams = self._all()
            if not streams:
                continue
            try:
                good = await standing(self._reads, {stream.caller.proof_id for stream in streams})
            except FOREIGN as error:
                log.debug("streams not checked", error=repr(error))
                continue
            for stream in streams:
                administers = good.get(stream.caller.proof_id)
                if administers is None or (stream.channel == EVERYONES and not administers):
                    stream.end()
