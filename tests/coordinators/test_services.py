"""The services that coordinators stand on go and come back, and every wish is reached all the same."""

import asyncio
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest
from sqlalchemy import text

from codehub.coordinators.workspace_controller import WorkspaceController
from codehub.model.states import Desired, Operation, Phase
from codehub.stack.account import Account
from codehub.store import migrate
from codehub.store.protocols import SeatLost
from codehub.store.seat import PostgresSeat, lock_key
from tests.coordinators.house import House, Replica, until
from tests.coordinators.own_service import own_postgres, own_redis
from tests.coordinators.sessions import kill_all, office
from tests.databases import create_database

BEGUN = text("SELECT count(*) FROM workspace_events WHERE workspace_id = :id AND kind = 'operation' AND after = :after")


async def begun(house: House, workspace_id: UUID, operation: Operation) -> int:
    """How often this operation was begun."""
    async with house.pool.connect() as connection:
        return int(await connection.scalar(BEGUN, {"id": workspace_id, "after": operation.value}) or 0)


async def leads(replica: Replica, name: str = "wc") -> None:
    async def elected() -> bool | None:
        report = replica.supervisor.reports.get(name)
        return (report is not None and report.is_leader) or None

    await until(elected, 30)


async def test_postgresql_is_restarted(services_folder: Path, account: Account, redis_url: str) -> None:
    async with own_postgres(services_folder, account) as (server, maintenance_url):
        url = await create_database(maintenance_url)
        await migrate.upgrade(url)
        async with House.open(url, redis_url, "restarted") as house:
            replica = house.replica()
            workspace_id = await house.create()
            await house.until_phase(workspace_id, Phase.RUNNING)
            await server.stop()

            async def has_noticed() -> bool | None:
                return not any(report.is_leader for report in replica.supervisor.reports.values()) or None

            await until(has_noticed, 30)
            await server.start()
            await house.wish(workspace_id, Desired.STANDBY)
            await house.until_phase(workspace_id, Phase.STANDBY)
            for name in replica.supervisor.reports:
                await leads(replica, name)
            assert not house.engine.containers


async def test_all_connections_are_ended_again_and_again(house: House) -> None:
    house.replica(lease_seconds=2)
    workspaces = [await house.create() for _ in range(3)]
    for _ in range(4):
        await asyncio.sleep(0.3)  # somewhere in the middle of the work, wherever that is
        await kill_all(house.database_url)
    for workspace_id in workspaces:
        await house.until_phase(workspace_id, Phase.RUNNING)
    assert len(house.engine.containers) == len(house.engine.homes) == len(workspaces)


@pytest.mark.parametrize("trouble", ["stopped", "frozen"])
async def test_without_redis_work_goes_on_at_the_polling_interval(
    database_url: str, services_folder: Path, account: Account, trouble: str
) -> None:
    async with (
        own_redis(services_folder, account) as (server, redis_url),
        House.open(database_url, redis_url, trouble) as house,
    ):
        replica = house.replica()
        workspace_id = await house.create()
        await house.until_phase(workspace_id, Phase.RUNNING)
        if trouble == "stopped":
            await server.stop()
        else:
            server.freeze()
        await house.wish(workspace_id, Desired.STANDBY)
        await house.until_phase(workspace_id, Phase.STANDBY)
        await replica.stop()
        house.replica()  # one that has never seen Redis works as well
        await house.wish(workspace_id, Desired.RUNNING)
        await house.until_phase(workspace_id, Phase.RUNNING)
        if trouble == "stopped":
            await server.start()
        await house.wish(workspace_id, Desired.DELETED)
        await house.until_phase(workspace_id, Phase.DELETED)


async def test_a_connection_cut_between_update_and_commit_leaves_nothing_behind(house: House) -> None:
    seat = await PostgresSeat.take(house.database_url, "coordinator:wc", "cut off", 3.0)
    assert await seat.campaign() is not None
    workspace_id = await house.create(Desired.STANDBY)
    replica = house.replica(lease_seconds=2)
    with pytest.raises(SeatLost):
        await _write_and_be_cut_off(seat, house.database_url)
    await house.until_phase(workspace_id, Phase.STANDBY)
    await leads(replica)
    assert await begun(house, workspace_id, Operation.PROVISIONING) == 1
    assert len(house.engine.homes) == 1
    assert await office(house.database_url, "coordinator:wc") == ("replica-0", 2, False)
    assert await _lock_is_held(house.database_url)
    assert not [event for event in await house.events(workspace_id) if event[2] == "ERROR"]
    await seat.close()


async def test_a_shutdown_in_the_middle_of_a_statement_still_hands_over_in_order(house: House) -> None:
    replica = house.replica()
    for name in ("wc", "observer"):
        await leads(replica, name)
    async with house.pool.begin() as connection:
        await connection.execute(text("LOCK TABLE workspaces IN ACCESS EXCLUSIVE MODE"))
        workspace_waits = until(lambda: _waits_for_the_table(house), 60)
        await workspace_waits
        stopping = asyncio.create_task(replica.stop())
        await asyncio.sleep(0.1)  # well into the statement that waits, and short of its end
    await stopping
    for name in ("wc", "observer", "events"):
        assert await office(house.database_url, f"coordinator:{name}") == ("replica-0", 1, True)


async def _waits_for_the_table(house: House) -> bool | None:
    waiting = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND application_name LIKE 'codehub coordinator:%' AND wait_event_type = 'Lock'"
    )
    connection = await asyncpg.connect(house.database_url)
    try:
        return await connection.fetchval(waiting) > 0 or None
    finally:
        await connection.close()


async def test_two_controllers_at_once_double_nothing(house: House) -> None:
    first, second = house.replica(), house.replica()
    for replica, lock_name in ((first, "coordinator:wc"), (second, "coordinator:wc:by-mistake")):
        for each in replica.supervisor.coordinators:
            if isinstance(each, WorkspaceController):
                each.lock_name = lock_name
    await leads(first)
    await leads(second)
    workspaces = [await house.create() for _ in range(5)]
    for workspace_id in workspaces:
        await house.until_phase(workspace_id, Phase.RUNNING)
    assert len(house.engine.containers) == len(house.engine.homes) == len(workspaces)
    for workspace_id in workspaces:
        assert await begun(house, workspace_id, Operation.PROVISIONING) == 1
        assert await begun(house, workspace_id, Operation.STARTING) == 1
        await house.wish(workspace_id, Desired.DELETED)
    for workspace_id in workspaces:
        await house.until_phase(workspace_id, Phase.DELETED)
    assert not house.engine.containers
    assert not house.engine.homes


async def _write_and_be_cut_off(seat: PostgresSeat, database_url: str) -> None:
    async with seat.transaction() as connection:
        await connection.execute(text("UPDATE workspaces SET phase = 'ERROR', error_reason = 'Timeout'"))
        await kill_all(database_url)


async def _lock_is_held(database_url: str) -> bool:
    connection = await asyncpg.connect(database_url)
    try:
        return not await connection.fetchval("SELECT pg_try_advisory_lock($1)", lock_key("coordinator:wc"))
    finally:
        await connection.close()
