"""The controller's work in parts: each workspace has one controller, whatever happens to the others."""

import asyncio
from collections import Counter
from uuid import UUID

from sqlalchemy import text

from codehub.model.states import Desired, Phase
from codehub.store.controller import PostgresController
from codehub.store.protocols import Term
from codehub.store.seat import PostgresSeat
from codehub.store.shards import shards
from tests.coordinators.house import House, Replica, until
from tests.coordinators.sessions import kill_leader, office

NAMES = [each.name for each in shards(3)]
CLAIMS = text("SELECT workspace_id FROM workspace_events WHERE kind = 'operation' AND after = 'PROVISIONING'")


async def leading(replica: Replica) -> list[str]:
    return [name for name, report in replica.supervisor.reports.items() if name.startswith("wc") and report.is_leader]


async def all_lead(replica: Replica) -> None:
    async def elected() -> bool | None:
        return await leading(replica) == NAMES or None

    await until(elected, 30)


async def share(house: House, number: int) -> set[UUID]:
    """The workspaces that want a decision of this part."""
    (shard,) = (each for each in shards(3) if each.number == number)
    seat = await PostgresSeat.take(house.database_url, "tests", "tests", 30)
    try:
        return {row.id for row in await PostgresController(seat, shard).unsettled(None, 100)}
    finally:
        await seat.close()


async def test_every_workspace_is_exactly_one_parts(house: House) -> None:
    created = {await house.create() for _ in range(30)}
    shares = [await share(house, number) for number in range(3)]
    assert set.union(*shares) == created
    assert sum(map(len, shares)) == len(created)
    assert all(shares)


async def test_three_parts_handle_each_workspace_once(house: House) -> None:
    replica = house.replica(shards=3)
    await all_lead(replica)
    workspaces = [await house.create() for _ in range(12)]
    for workspace_id in workspaces:
        await house.until_phase(workspace_id, Phase.RUNNING)
    async with house.pool.connect() as connection:
        assert Counter((await connection.execute(CLAIMS)).scalars()) == Counter(workspaces)
    assert len(house.engine.containers) == len(house.engine.homes) == len(workspaces)


async def test_a_killed_leader_moves_only_its_own_part(house: House) -> None:
    first = house.replica(shards=3, lease_seconds=30, retry_interval=120)
    await all_lead(first)
    second = house.replica(shards=3, lease_seconds=30)
    created = [await house.create(Desired.STANDBY) for _ in range(6)]
    for workspace_id in created:
        await house.until_phase(workspace_id, Phase.STANDBY)
    await kill_leader(house.database_url, "coordinator:wc:1")

    async def moved() -> bool | None:
        return (await leading(second), await leading(first)) == (["wc:1"], ["wc:0", "wc:2"]) or None

    await until(moved, 60)
    assert [(await office(house.database_url, f"coordinator:{name}"))[:2] for name in NAMES] == [
        ("replica-0", 1),
        ("replica-1", 2),
        ("replica-0", 1),
    ]
    for workspace_id in created:
        await house.wish(workspace_id, Desired.RUNNING)
    for workspace_id in created:
        await house.until_phase(workspace_id, Phase.RUNNING)


async def test_another_number_of_parts_waits_until_the_last_of_the_old_ones_is_gone(house: House) -> None:
    old = [await take(house, number, 3) for number in range(2)]
    assert all([await seat.campaign() for seat in old])
    new = await take(house, 0, 1)
    assert await new.campaign() is None
    await old[0].resign()
    assert await new.campaign() is None
    await old[1].close()
    term = await until(new.campaign, 60)
    assert term == Term(epoch=1, predecessor_released=False), "whoever was there before may still be acting"
    late = await take(house, 2, 3)
    assert await late.campaign() is None
    for seat in (*old, new, late):
        await seat.close()


async def test_of_two_numbers_that_come_at_once_only_one_gets_to_work(house: House) -> None:
    """Whoever steps back leaves nothing behind; both may step back, and come again."""
    for _ in range(5):
        seats = [await take(house, 0, 2), await take(house, 0, 3)]
        terms = await asyncio.gather(*(seat.campaign() for seat in seats))
        assert terms.count(None) >= 1
        for seat in seats:
            await seat.close()


async def test_the_same_number_again_need_not_wait(house: House) -> None:
    for epoch in (1, 2):
        seat = await take(house, 0, 1)
        assert await seat.campaign() == Term(epoch, predecessor_released=True)
        await seat.resign()
        await seat.close()


async def test_with_the_number_changed_work_goes_on(house: House) -> None:
    old = house.replica(lease_seconds=2)
    workspace_id = await house.create()
    await house.until_phase(workspace_id, Phase.RUNNING)
    new = house.replica(shards=3, lease_seconds=2)
    await old.stop()
    await all_lead(new)
    await house.wish(workspace_id, Desired.DELETED)
    await house.until_phase(workspace_id, Phase.DELETED)


async def take(house: House, number: int, of: int) -> PostgresSeat:
    (shard,) = (each for each in shards(of) if each.number == number)
    return await PostgresSeat.take(house.database_url, shard.lock_name, f"{number} of {of}", 5, of)
