"""A settled installation costs next to nothing, and stands in nobody's way."""

import asyncio
import itertools
from typing import Any

import asyncpg
from sqlalchemy import event, text

from codehub.model.states import Desired, Phase
from codehub.store.protocols import Seat
from codehub.store.seat import PostgresSeat
from tests.coordinators.house import House, Replica, until

PASSES = 4
STATEMENTS_PER_PASS = 3
VERSIONS = text("""
    SELECT 'workspaces', xmin::text, ctid::text FROM workspaces
    UNION ALL SELECT 'workspace_events', xmin::text, ctid::text FROM workspace_events
    UNION ALL SELECT 'observer_state', xmin::text, ctid::text FROM observer_state
    UNION ALL SELECT 'system_locks', xmin::text, ctid::text FROM system_locks
""")


async def settled(house: House, replica: Replica) -> None:
    wishes = [Desired.RUNNING, Desired.STANDBY, Desired.RUNNING]
    workspaces = [await house.create(each) for each in wishes]
    for workspace_id, desired in zip(workspaces, wishes, strict=True):
        await house.until_phase(workspace_id, Phase(desired.value))

    async def at_rest() -> bool | None:
        async with house.pool.connect() as connection:
            return await connection.scalar(text("SELECT bool_and(settled) FROM workspaces")) or None

    await until(at_rest, 30)
    await passes(replica, "observer", 3)
    await passes(replica, "wc", 3)


async def passes(replica: Replica, name: str, count: int) -> None:
    """Wait for so many more passes of this coordinator."""
    report = replica.supervisor.reports[name]
    for _ in range(count):
        before = report.last_pass

        async def another(before: object = before) -> bool | None:
            return report.last_pass != before or None

        await until(another, 30)


async def versions(house: House) -> set[tuple[Any, ...]]:
    """Which version of each row stands there: every write makes another."""
    async with house.pool.connect() as connection:
        return {tuple(row) for row in await connection.execute(VERSIONS)}


def note_statements(replica: Replica, lock_name: str) -> list[str]:
    """Everything that this coordinator will send over its connection."""
    sent: list[str] = []
    take = replica.supervisor.take_seat

    async def take_and_listen(name: str) -> Seat:
        seat = await take(name)
        assert isinstance(seat, PostgresSeat)
        if name == lock_name:
            engine = seat._connection.sync_engine
            event.listen(engine, "before_cursor_execute", lambda _, __, statement, *___: sent.append(statement))
        return seat

    replica.supervisor.take_seat = take_and_listen
    return sent


async def test_a_pass_that_finds_nothing_changed_writes_nothing(house: House) -> None:
    replica = house.replica()
    await settled(house, replica)
    before = await versions(house)
    await passes(replica, "observer", PASSES)
    await passes(replica, "wc", PASSES)
    assert await versions(house) == before


async def test_a_pass_over_settled_rows_takes_the_controller_three_statements(house: House) -> None:
    replica = house.replica()
    sent = note_statements(replica, "coordinator:wc")
    await settled(house, replica)
    sent.clear()
    await passes(replica, "wc", PASSES)
    work = [statement for statement in sent if statement != "SELECT 1"]
    begins = [place for place, statement in enumerate(work) if "pg_locks" in statement]
    assert len(begins) >= PASSES
    assert max(after - before for before, after in itertools.pairwise(begins)) <= STATEMENTS_PER_PASS


async def test_a_table_can_be_altered_at_once_on_a_live_system(house: House) -> None:
    replica = house.replica()
    await settled(house, replica)
    connection = await asyncpg.connect(house.database_url, server_settings={"lock_timeout": "500"})
    for number in range(5):
        await connection.execute(f"ALTER TABLE workspaces ADD COLUMN extra_{number} integer")
        await asyncio.sleep(0.1)
    await connection.close()
    await house.until_phase(await house.create(), Phase.RUNNING)
