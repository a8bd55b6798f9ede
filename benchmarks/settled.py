"""What an installation costs in which nothing happens, at 100,000 workspaces.

    python -m benchmarks.settled --rows 100000 --running 1000 --passes 20

All workspaces are as wished and have a volume in the memory runtime; some of them run. Counted are the controller's
passes, with all that belongs to one; the WAL that the server has written when the Observer has looked at everything and
found nothing new; and the memory of the process, with the engine in it that a real installation has elsewhere.
"""

import asyncio
import random
import resource
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import asyncpg
from benchmarks.stage import Figure, arguments, ground, percentile, progress, run
from sqlalchemy import event
from tests.coordinators.house import IMAGE, INSTALLATION, House

from codehub import clock
from codehub.coordinators.observer import Observer
from codehub.coordinators.ticker import Rhythm, Ticker
from codehub.coordinators.workspace_controller import WorkspaceController
from codehub.model.workspace import incarnation_name
from codehub.runtimes.memory import MemoryRuntime
from codehub.runtimes.protocols import InstanceSpec, VolumeSpec
from codehub.settings.groups import CoordinatorConfig
from codehub.store.protocols import Seat
from codehub.store.seat import PostgresSeat

PASS_MS = 20
STATEMENTS = 3
MEGABYTES = 250
LONGEST_SECONDS = 420
INSERTED_AT_ONCE = 10_000

ROWS = """
    INSERT INTO workspaces (id, owner_user_id, name, template_id, desired_state, phase, home_volume)
    SELECT id, $1, id::text, $2, phase, phase, volume
    FROM unnest($3::uuid[], $4::text[], $5::text[]) AS made (id, volume, phase)
"""
RESTLESS = "SELECT count(*) FROM workspaces WHERE NOT settled OR observed_at IS NULL"
WAL = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint"
RECORDED = "SELECT began_at FROM observer_state"
HEARTBEAT = "SELECT 1"


class Stopwatch(Ticker):
    """Knows how long each pass took, and how many statements it sent: all that happens between two calls of `next`."""

    def __init__(self) -> None:
        config = CoordinatorConfig()
        rhythm = Rhythm(config.idle_interval, config.active_interval, config.active_duration)
        super().__init__(rhythm, clock.elapsed, random.random)
        self.sent = 0
        self.passes: list[tuple[float, int]] = []
        self._timed_from: float | None = None

    async def next(self) -> None:
        if self._timed_from is not None:
            self.passes.append(((time.perf_counter() - self._timed_from) * 1000, self.sent))
        await super().next()
        self._timed_from, self.sent = time.perf_counter(), 0

    def note(self, statement: str) -> None:
        self.sent += statement != HEARTBEAT

    async def until_another(self) -> None:
        known = len(self.passes)
        async with asyncio.timeout(60):
            while len(self.passes) == known:
                await asyncio.sleep(0.005)


@dataclass
class Watched:
    """A replica whose passes are timed, and somebody who looks at the database beside it."""

    observer: Observer
    looks: Stopwatch
    passes: Stopwatch
    person: asyncpg.Connection


@asynccontextmanager
async def watched(house: House) -> AsyncIterator[Watched]:
    looks, passes = Stopwatch(), Stopwatch()
    replica = house.replica()  # begins to run at the next await
    (observer,) = (each for each in replica.supervisor.coordinators if isinstance(each, Observer))
    (controller,) = (each for each in replica.supervisor.coordinators if isinstance(each, WorkspaceController))
    observer.ticker, controller.ticker = looks, passes
    take = replica.supervisor.take_seat

    async def take_and_note(lock_name: str) -> Seat:
        seat = await take(lock_name)
        if lock_name == controller.lock_name and isinstance(seat, PostgresSeat):
            engine = seat._connection.sync_engine  # noqa: SLF001 (nobody else needs to know it)
            event.listen(engine, "before_cursor_execute", lambda _, __, statement, *___: passes.note(statement))
        return seat

    replica.supervisor.take_seat = take_and_note
    person = await asyncpg.connect(house.database_url)
    try:
        yield Watched(observer, looks, passes, person)
    finally:
        await person.close()


async def benchmark(rows: int, running: int, passes: int) -> Sequence[Figure]:
    async with ground() as services, House.open(services.database_url, services.redis_url, uuid4().hex) as house:
        bare = megabytes()
        await populate(house, rows, running)
        engine = megabytes() - bare
        progress(f"{rows} rows, {running} of them running; the engine takes {engine:.0f} MB")
        async with watched(house) as replica:
            await until_settled(replica.person)
            controller = await controller_passes(replica, passes)
            observer = await observer_passes(replica, passes)
        memory = megabytes()
    return [*controller, *observer, Figure("memory, engine included", memory, "MB", at_most=MEGABYTES)]


async def populate(house: House, rows: int, running: int) -> None:
    runtime = MemoryRuntime(house.engine, INSTALLATION)
    person = await asyncpg.connect(house.database_url)
    await person.execute("ALTER TABLE workspaces DISABLE TRIGGER USER")
    for start in range(0, rows, INSERTED_AT_ONCE):
        made = []
        for number in range(start, min(start + INSERTED_AT_ONCE, rows)):
            workspace_id, op_id = uuid4(), uuid4()
            name = incarnation_name(workspace_id, op_id, 1)
            await runtime.volumes.create(VolumeSpec(name, workspace_id, op_id, 1))
            if number < running:
                await runtime.instances.start(
                    InstanceSpec(name, workspace_id, op_id, 1, name, IMAGE, port=80, health_path="/healthz")
                )
            made.append((workspace_id, name, "RUNNING" if number < running else "STANDBY"))
        await person.execute(ROWS, house.owner, house.template, *map(list, zip(*made, strict=True)))
    await person.execute("ALTER TABLE workspaces ENABLE TRIGGER USER")
    await person.close()


async def until_settled(person: asyncpg.Connection) -> None:
    """Observed and judged, every one; and vacuumed, as autovacuum would in time, so that reading leaves no traces."""
    async with asyncio.timeout(LONGEST_SECONDS):
        while left := await person.fetchval(RESTLESS):
            progress(f"{left} rows are not settled yet")
            await asyncio.sleep(10)
    await person.execute("VACUUM (FREEZE, ANALYZE)")
    await person.execute("ALTER SYSTEM SET autovacuum = off")  # what it writes later is not the Observer's
    await person.execute("SELECT pg_reload_conf()")


async def controller_passes(replica: Watched, count: int) -> Sequence[Figure]:
    for _ in range(3):  # those that were hinted at while the rows settled
        replica.passes.hint()
        await replica.passes.until_another()
    replica.passes.passes.clear()
    for _ in range(count):
        replica.passes.hint()
        await replica.passes.until_another()
    took = [milliseconds for milliseconds, _ in replica.passes.passes]
    sent = max(statements for _, statements in replica.passes.passes)
    progress(f"{len(took)} passes of the controller: {min(took):.1f} to {max(took):.1f} ms")
    return [
        Figure("pass of the controller, median", statistics.median(took), "ms", at_most=PASS_MS),
        Figure("pass of the controller, p90", percentile(took, 0.9), "ms"),
        Figure("statements in a pass of the controller, most", sent, "", at_most=STATEMENTS),
    ]


async def observer_passes(replica: Watched, count: int) -> Sequence[Figure]:
    """Once a minute a look is recorded, in one row; every other one has to leave the WAL as it was. The server itself
    adds a few bytes now and then, some seconds after others have written: the median tells the Observer's own."""
    quiet: list[int] = []
    records: list[int] = []
    replica.observer.hint(None)  # after which every page was read once, and says that its rows are settled
    await replica.looks.until_another()
    replica.looks.passes.clear()
    for _ in range(count):
        wal, recorded = await replica.person.fetchval(WAL), await replica.person.fetchval(RECORDED)
        replica.observer.hint(None)
        await replica.looks.until_another()
        written = await replica.person.fetchval(WAL) - wal
        (quiet if await replica.person.fetchval(RECORDED) == recorded else records).append(written)
    took = [milliseconds for milliseconds, _ in replica.looks.passes]
    progress(f"{len(took)} looks of the Observer: {min(took):.0f} to {max(took):.0f} ms; records wrote {records} bytes")
    return [
        Figure("look of the Observer at everything, median", statistics.median(took), "ms"),
        Figure("WAL of a look that finds nothing new, median", statistics.median(quiet), "bytes", at_most=0),
        Figure("WAL of a look that finds nothing new, most", max(quiet), "bytes"),
    ]


def megabytes() -> float:
    """What this process holds in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1024**2


if __name__ == "__main__":
    sizes = arguments(__doc__, rows=100_000, running=1000, passes=20)
    run(benchmark(sizes.rows, sizes.running, sizes.passes))
