"""A thousand event streams in one API process: how soon a change is told, what they cost the API and how much memory
each takes. The API is measured without and with them in one run, changes going on all the while.

Run it on a quiet machine: python -m benchmarks.streams [--streams 1000] [--changes 500] [--seconds 10]"""

import asyncio
import contextlib
import random
import re
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import cast
from uuid import UUID, uuid4

import asyncpg
from benchmarks.api import ROOT, Options, Server, request, serving
from benchmarks.stage import Figure, Ground, arguments, ground, percentile, progress, run
from tests.folders import short_folder

from codehub.bus.connect import connect
from codehub.bus.hints import Hints
from codehub.bus.page_events import PageEvents
from codehub.coordinators.event_listener import EventListener
from codehub.coordinators.supervisor import Supervisor, Terms
from codehub.decide.idle import IdlePolicy
from codehub.settings.groups import RedisChannelConfig
from codehub.store.callers import hashed
from codehub.store.feed import PostgresFeed
from codehub.store.protocols import Seat
from codehub.store.seat import PostgresSeat
from codehub.web.callers import TOKEN_PREFIX

CHANGES_PER_SECOND = 50
LONGEST_SECONDS = 60
FIRST = 100
SETTLE_SECONDS = 3
"""Until allocators have given back what only opening has cost."""
_CHANGE = "UPDATE workspaces SET memo = $2 WHERE id = $1"


@dataclass(frozen=True)
class Person:
    token: str
    workspace_id: UUID


class Stream(asyncio.Protocol):
    """One reader: notes when it was told of which change."""

    def __init__(self, person: Person, arrived: dict[str, float]) -> None:
        self._person = person
        self._arrived = arrived
        self.began = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # as uvloop's are, without saying so
        self.transport.write(request("GET", "/api/v1/events", f"Bearer {self._person.token}"))

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        if b"event: snapshot" in data and not self.began.done():
            self.began.set_result(None)
        for memo in re.findall(rb'"memo":"(change [^"]+)"', data):
            self._arrived.setdefault(memo.decode(), now)


@dataclass
class Stage:
    database: asyncpg.Connection
    people: list[Person]
    arrived: dict[str, float] = field(default_factory=dict)

    async def changes(self, number: int) -> list[float]:
        """Make so many, evenly, and tell how long each was on its way, in milliseconds."""
        committed = {}
        for _ in range(number):
            name = f"change {uuid4()}"
            await self.database.execute(_CHANGE, random.choice(self.people).workspace_id, name)  # noqa: S311
            committed[name] = time.perf_counter()
            await asyncio.sleep(1 / CHANGES_PER_SECOND)
        async with asyncio.timeout(LONGEST_SECONDS):
            while not committed.keys() <= self.arrived.keys():
                await asyncio.sleep(0.05)
        return [(self.arrived[name] - at) * 1000 for name, at in committed.items()]

    async def changes_for_ever(self) -> None:
        while True:
            await self.database.execute(_CHANGE, random.choice(self.people).workspace_id, "again")  # noqa: S311
            await asyncio.sleep(1 / CHANGES_PER_SECOND)


async def people_with_workspaces(database: asyncpg.Connection, number: int) -> list[Person]:
    people = [Person(TOKEN_PREFIX + secrets.token_urlsafe(32), uuid4()) for _ in range(number)]
    users = [(uuid4(), person) for person in people]
    await database.executemany(
        "INSERT INTO users (id, login, password_hash) VALUES ($1, $2, '!')", [(user, user.hex) for user, _ in users]
    )
    await database.executemany(
        "INSERT INTO api_tokens (id, user_id, name, secret_hash, hint, scopes) VALUES ($1, $2, 'me', $3, '', '{read}')",
        [(uuid4(), user, hashed(person.token)) for user, person in users],
    )
    await database.executemany(
        "INSERT INTO workspaces (id, owner_user_id, name, desired_state) VALUES ($1, $2, 'garden', 'STANDBY')",
        [(person.workspace_id, user) for user, person in users],
    )
    await database.execute("VACUUM ANALYZE")
    return people


@asynccontextmanager
async def listener(services: Ground) -> AsyncIterator[None]:
    """The EventListener, in this process: what it costs is not the API's."""
    redis, names = connect(services.redis_url), RedisChannelConfig()

    def feed(seat: Seat) -> PostgresFeed:
        assert isinstance(seat, PostgresSeat)
        return PostgresFeed(seat)

    async def nobody_competes() -> bool:
        return False

    pages = PageEvents(redis, names.sse_prefix, IdlePolicy(600, 1800))
    supervisor = Supervisor(
        [EventListener(feed, Hints(redis, names.wake_prefix), pages)],
        lambda lock_name: PostgresSeat.take(services.database_url, lock_name, "benchmark", 5.0),
        nobody_competes,
        Terms(5.0, 0.1, 0.0),
    )
    task = asyncio.create_task(supervisor.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        await redis.aclose()


@asynccontextmanager
async def streaming(stage: Stage, port: int) -> AsyncIterator[None]:
    loop = asyncio.get_running_loop()
    opened: list[Stream] = []
    for person in stage.people:
        _, stream = await loop.create_connection(partial(Stream, person, stage.arrived), "127.0.0.1", port)
        opened.append(stream)
    async with asyncio.timeout(LONGEST_SECONDS):
        await asyncio.gather(*(stream.began for stream in opened))
    yield
    for stream in opened:
        stream.transport.close()


def memory_kilobytes(pid: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1])


async def api_p99(stage: Stage, server: Server, options: Options) -> float:
    """While changes go on."""
    asked = request("GET", f"{ROOT}/{stage.people[0].workspace_id}", f"Bearer {stage.people[0].token}")
    changing = asyncio.create_task(stage.changes_for_ever())
    load = await server.under(asked, options)
    changing.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await changing
    return load.p99_ms


async def measure(streams: int, changes: int, options: Options) -> Sequence[Figure]:
    with short_folder() as folder:
        async with ground() as services, listener(services), serving(services, folder) as server:
            database = await asyncpg.connect(services.database_url)
            stage = Stage(database, await people_with_workspaces(database, streams))
            progress("the API without streams")
            without = await api_p99(stage, server, options)
            async with streaming(Stage(database, stage.people[:FIRST]), server.port):
                progress(f"{FIRST} streams first, for what is only paid once")
            before = memory_kilobytes(server.pid)
            progress(f"{streams} streams")
            async with streaming(stage, server.port):
                await asyncio.sleep(SETTLE_SECONDS)
                each = (memory_kilobytes(server.pid) - before) / streams
                progress("changes, told to their owners")
                took = await stage.changes(changes)
                progress("the API with streams")
                beside = await api_p99(stage, server, options)
                after = (memory_kilobytes(server.pid) - before) / streams
            await asyncio.sleep(SETTLE_SECONDS)  # their readers have left, and that is noticed
            await database.close()
    return [
        Figure("commit to event: median", percentile(took, 0.5), "ms"),
        Figure("commit to event: p99", percentile(took, 0.99), "ms", at_most=50),
        Figure("memory of a stream, just opened", each, "KB", at_most=20),
        Figure("memory of a stream, after all that", after, "KB", at_most=20),
        Figure("one workspace, p99 without streams", without, "ms"),
        Figure(f"one workspace, p99 with {streams} streams", beside, "ms"),
        Figure("with streams, times without", beside / without, "x", at_most=2),
    ]


if __name__ == "__main__":
    given = arguments(__doc__, streams=1000, changes=500, seconds=10, connections=8)
    run(measure(given.streams, given.changes, Options(given.seconds, given.connections)))
