"""`ALTER TABLE` on a live system: nobody holds a transaction open that it would have to wait for."""

import asyncio
import itertools
from contextlib import suppress
from uuid import UUID

import asyncpg

from codehub.model.states import Desired, Phase
from tests.faults.real_house import DockerHouse

TIMES = 20
LOCK_TIMEOUT = "1s"


async def test_a_column_can_be_added_at_any_time_while_workspaces_move(house: DockerHouse) -> None:
    house.replica()
    house.replica()
    workspaces = [await house.create() for _ in range(3)]
    moving = [asyncio.create_task(move_for_ever(house, each)) for each in workspaces]
    connection = await asyncpg.connect(house.database_url)
    try:
        await connection.execute(f"SET lock_timeout = '{LOCK_TIMEOUT}'")
        for number in range(TIMES):
            before = await events(connection)
            await connection.execute(f"ALTER TABLE workspaces ADD COLUMN column_{number} integer DEFAULT {number}")
            while await events(connection) == before:  # the next one finds them somewhere else
                await asyncio.sleep(0.01)
    finally:
        await connection.close()
        for each in moving:
            each.cancel()
            with suppress(asyncio.CancelledError):
                await each
    for workspace_id in workspaces:
        await house.wish(workspace_id, Desired.STANDBY)
        await house.until_phase(workspace_id, Phase.STANDBY)


async def events(connection: asyncpg.Connection) -> int:
    return int(await connection.fetchval("SELECT count(*) FROM workspace_events"))


async def move_for_ever(house: DockerHouse, workspace_id: UUID) -> None:
    for desired in itertools.cycle([Desired.RUNNING, Desired.STANDBY]):
        await house.wish(workspace_id, desired)
        await house.until_phase(workspace_id, Phase(desired.value))
