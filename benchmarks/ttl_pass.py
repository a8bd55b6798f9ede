"""One pass of the TTL runner over 100,000 workspaces: the time that it costs the database.

    python -m benchmarks.ttl_pass --rows 100000 --passes 20

Counted is what the server spends on the statements of a pass, as it tells itself (EXPLAIN ANALYZE, planning included),
in two installations: in one a tenth of the workspaces run and a quarter rest in standby, in the other all of them run.
A tenth has idle times of its own, the template has one, one in a hundred is held, and nobody is due. Apart from that it
tells what it costs to bring in who was used, and to write the wish of those who sleep: once for each of them.
"""

import json
import statistics
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from uuid import UUID

import asyncpg
from benchmarks.stage import Figure, arguments, ground, progress, run
from sqlalchemy import event
from tests.databases import create_database

from codehub.decide.idle import IdlePolicy
from codehub.model.activity import Doors, Kind, Sign
from codehub.store.idle import PostgresIdle
from codehub.store.seat import PostgresSeat

PASS_MS = 50
USED = 1000
BATCH = 500
POLICY = IdlePolicy(standby_after_seconds=600, archive_after_seconds=86400)
DOORS = Doors(watched_for_seconds=86400, silent_for_seconds=0, most_silent="door")
OWNER = UUID(int=1)

ROWS = """
    INSERT INTO workspaces (id, owner_user_id, name, template_id, phase, desired_state, phase_changed_at,
                            last_access_at, home_volume, standby_after_seconds, archive_after_seconds, held_until,
                            conditions)
    SELECT gen_random_uuid(), $1::uuid, n::text, $1, phase, phase, now() - interval '1 hour',
           now() - n % 300 * interval '1 second', 'home', CASE n % 10 WHEN 1 THEN n % 7 * 3600 END,
           CASE n % 10 WHEN 2 THEN 172800 END, CASE n % 100 WHEN 3 THEN now() + interval '1 hour' END,
           jsonb_build_object('infra.container_ready', jsonb_build_object('message', repeat('.', 400)))
    FROM (SELECT n, CASE WHEN $3 OR n % 20 < 2 THEN 'RUNNING'
                         WHEN n % 20 < 7 THEN 'STANDBY' ELSE 'ARCHIVED' END AS phase
          FROM generate_series(1, $2::integer) AS n) AS made
"""
LONG_AGO = "UPDATE workspaces SET last_access_at = now() - interval '1 day', held_until = NULL WHERE id = ANY ($1)"


class Caught(Exception):
    def __init__(self, statement: str, parameters: Sequence[Any]) -> None:
        self.statement, self.parameters = statement, parameters


def catch(_: object, __: object, statement: str, parameters: Sequence[Any], *___: object) -> None:
    raise Caught(statement, parameters)


async def cost(seat: PostgresSeat, person: asyncpg.Connection, question: Callable[[], Awaitable[object]]) -> float:
    """What the server spends on the statement that is sent for this, in milliseconds. It is done and taken back."""
    engine = seat._connection.sync_engine  # noqa: SLF001 (nobody else needs to know it)
    event.listen(engine, "before_cursor_execute", catch)
    try:
        await question()
    except Caught as caught:
        sent = caught
    finally:
        event.remove(engine, "before_cursor_execute", catch)
    turn = person.transaction()
    await turn.start()
    try:
        told = await person.fetchval(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {sent.statement}", *sent.parameters)
    finally:
        await turn.rollback()
    [whole] = json.loads(told)
    return float(whole["Planning Time"] + whole["Execution Time"])


async def populate(database_url: str, rows: int, *, all_run: bool) -> None:
    person = await asyncpg.connect(database_url)
    await person.execute("INSERT INTO users (id, login, password_hash) VALUES ($1, 'ann', '')", OWNER)
    await person.execute(
        "INSERT INTO templates (id, name, port, standby_after_seconds) VALUES ($1, 'ide', 80, 900)", OWNER
    )
    await person.execute("ALTER TABLE workspaces DISABLE TRIGGER USER")
    await person.execute(ROWS, OWNER, rows, all_run)
    await person.execute("ALTER TABLE workspaces ENABLE TRIGGER USER")
    await person.execute("VACUUM (ANALYZE)")
    await person.close()


async def measure(database_url: str, passes: int, what: str) -> Sequence[Figure]:
    seat = await PostgresSeat.take(database_url, "coordinator:ttl", "benchmark", lease_seconds=60)
    person = await asyncpg.connect(database_url)
    store = PostgresIdle(seat, POLICY)
    running = [row["id"] for row in await person.fetch("SELECT id FROM workspaces WHERE phase = 'RUNNING'")]
    signs = [Sign(each, 1.0, Kind.EDIT) for each in running[:USED]]
    questions: dict[str, Callable[[], Awaitable[Sequence[UUID]]]] = {
        "who may stand by": lambda: store.may_stand_by(DOORS, BATCH),
        "who may be archived": lambda: store.may_be_archived(BATCH),
    }
    for each in questions.values():
        assert not await each()
    took = {name: [await cost(seat, person, each) for _ in range(passes)] for name, each in questions.items()}
    whole = [sum(each) for each in zip(*took.values(), strict=True)]
    used = [await cost(seat, person, lambda: store.bring_in(signs)) for _ in range(passes)]
    await person.execute(LONG_AGO, running[:BATCH])
    asleep = [await cost(seat, person, lambda: store.stand_by(running[:BATCH], DOORS)) for _ in range(passes)]
    progress(f"{what}: passes took {min(whole):.1f} to {max(whole):.1f} ms")
    await person.close()
    await seat.close()
    return [
        Figure(f"{what}: a pass, median", statistics.median(whole), "ms", at_most=PASS_MS),
        Figure(f"{what}: a pass, most", max(whole), "ms"),
        *(Figure(f"{what}: {name}, median", statistics.median(each), "ms") for name, each in took.items()),
        Figure(f"{what}: 1,000 that were used, median", statistics.median(used), "ms"),
        Figure(f"{what}: 500 wishes with their events, median", statistics.median(asleep), "ms"),
    ]


async def benchmark(rows: int, passes: int) -> Sequence[Figure]:
    figures: list[Figure] = []
    async with ground() as services:
        empty = services.database_url
        for what, all_run in (("a tenth runs", False), ("all run", True)):
            url = await create_database(empty, empty.rpartition("/")[2].partition("?")[0])
            await populate(url, rows, all_run=all_run)
            figures += await measure(url, passes, what)
    return figures


if __name__ == "__main__":
    sizes = arguments(__doc__, rows=100_000, passes=20)
    run(benchmark(sizes.rows, sizes.passes))
