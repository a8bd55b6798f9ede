"""What the routes work with: opened when the application starts, closed when it ends."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog
from fastapi import Request
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine

from codehub.archives.object_store import ObjectStore
from codehub.bus.connect import connect
from codehub.bus.live_notes import LiveNotes
from codehub.bus.usage import Usage
from codehub.decide.origins import Origins
from codehub.settings import Settings
from codehub.settings.idle_times import idle_policy
from codehub.settings.origins import origins
from codehub.store.away import FOREIGN
from codehub.store.callers import watermark
from codehub.store.engine import pool
from codehub.store.reads import Reads, opened_reads
from codehub.web.callers import Callers
from codehub.web.downloads import Downloads
from codehub.web.passwords import Passwords
from codehub.web.runtime_access import RuntimeAccess
from codehub.web.streams import Streams

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Parts:
    """Two ways to the same database: `writes` for transactions, through SQLAlchemy; `reads` for the few questions that
    nearly every request asks, in the driver's own words, because they decide how much one process can answer."""

    settings: Settings
    writes: AsyncEngine
    reads: Reads
    redis: Redis
    callers: Callers
    passwords: Passwords
    notes: LiveNotes
    usage: Usage
    streams: Streams
    runtime: RuntimeAccess
    archives: ObjectStore
    downloads: Downloads
    origins: Origins


@asynccontextmanager
async def opened(settings: Settings, database_url: str, redis_url: str, archives: ObjectStore) -> AsyncIterator[Parts]:
    """None of it waits for a service: those that are away are found when they are back."""
    async with contextlib.AsyncExitStack() as stack:
        writes = pool(database_url, "codehub api")
        stack.push_async_callback(writes.dispose)
        reads = await stack.enter_async_context(opened_reads(database_url, "codehub api reads"))
        redis = connect(redis_url)
        stack.push_async_callback(redis.aclose)
        passwords = Passwords()
        stack.callback(passwords.close)
        callers = Callers(reads, settings.auth, settings.codehub.public_url)
        prefix, policy = settings.redis_channel.sse_prefix, idle_policy(settings)
        streams = Streams(reads, redis, prefix, policy, settings.auth.cache_seconds)
        await stack.enter_async_context(streams.running())
        runtime = RuntimeAccess(settings, database_url)
        stack.push_async_callback(runtime.close)
        ending = asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_watch_access(reads, callers, ending), name="access watermark")
            try:
                yield Parts(
                    settings=settings,
                    writes=writes,
                    reads=reads,
                    redis=redis,
                    callers=callers,
                    passwords=passwords,
                    notes=LiveNotes(redis, prefix),
                    usage=Usage(redis, settings.redis_channel.usage_prefix, settings.coordinator.usage_interval),
                    streams=streams,
                    runtime=runtime,
                    archives=archives,
                    downloads=Downloads(),
                    origins=origins(settings.codehub, settings.proxy),
                )
            finally:
                ending.set()


async def _watch_access(reads: Reads, callers: Callers, ending: asyncio.Event) -> None:
    """Forget what is remembered of callers as soon as somebody lost a right, wherever that was decided."""
    seen = None
    while not ending.is_set():
        with contextlib.suppress(*FOREIGN):  # remembered callers run out by themselves meanwhile
            newest = await watermark(reads)
            if newest != seen:
                callers.forget()
            seen = newest
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(callers.auth.cache_seconds / 2):
                await ending.wait()


def parts_of(request: Request) -> Parts:
    parts: Parts = request.app.state.parts
    return parts
