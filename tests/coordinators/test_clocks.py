"""The clock of an attempt runs only while something is done about it, and it is the database's."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import make_url, text

from codehub.coordinators.database_clock import DatabaseClock
from codehub.model.states import Desired, Phase, Step
from codehub.runtimes.errors import RuntimeAway
from codehub.runtimes.memory_engine import Behaviour, Call, Fault
from tests.coordinators.house import IMAGE, House, until
from tests.databases import execute


async def failures(house: House, workspace_id: UUID) -> list[object]:
    return [event for event in await house.events(workspace_id) if event[0] == "failure"]


async def until_step(house: House, workspace_id: UUID, step: Step) -> None:
    async def reached() -> bool | None:
        return (await house.row(workspace_id)).op_step is step or None

    await until(reached, 60)


async def test_an_act_that_waits_for_a_free_slot_does_not_run_out_of_time(house: House) -> None:
    house.replica(max_concurrent_operations=1, starting_timeout=2)
    slow, waiting = await house.create(), await house.create(Desired.STANDBY)
    await house.until_phase(slow, Phase.RUNNING)
    await house.until_phase(waiting, Phase.STANDBY)
    house.engine.lay(Call.STOP, Fault(wait_seconds=5, times=1))
    await house.wish(slow, Desired.STANDBY)
    await until_step(house, slow, Step.STOP)
    await house.wish(waiting, Desired.RUNNING)
    await house.until_phase(waiting, Phase.RUNNING)
    assert not await failures(house, waiting)


async def test_an_act_whose_leader_has_long_been_gone_is_begun_anew(house: House) -> None:
    replica = house.replica(starting_timeout=60)
    workspace_id = await house.create(Desired.STANDBY)
    await house.until_phase(workspace_id, Phase.STANDBY)
    house.engine.lay(Call.START, Fault(wait_seconds=math.inf, times=1))
    await house.wish(workspace_id, Desired.RUNNING)
    await house.until_met(Call.START)
    await replica.stop()
    async with house.pool.begin() as connection:
        await connection.execute(text("UPDATE workspaces SET op_clock_at = op_clock_at - interval '1 hour'"))
    house.replica(starting_timeout=60)
    await house.until_phase(workspace_id, Phase.RUNNING)
    assert not await failures(house, workspace_id)


async def set_clock(database_url: str, ahead: str) -> None:
    """For whoever looks at the database's clock from now on."""
    clock = f"RETURNS timestamptz LANGUAGE sql VOLATILE RETURN pg_catalog.clock_timestamp() + interval '{ahead}'"
    await execute(database_url, f"CREATE OR REPLACE FUNCTION ahead.clock_timestamp() {clock}")


@pytest.fixture
async def house_in_the_future(
    database_url: str, redis_url: str, redis_prefix: Callable[[], str]
) -> AsyncIterator[House]:
    """One whose database has another clock than its replicas."""
    await execute(database_url, "CREATE SCHEMA ahead")
    await set_clock(database_url, "1 day")
    name = make_url(database_url).database
    await execute(database_url, f"ALTER DATABASE {name} SET search_path = ahead, pg_catalog, public")
    async with House.open(database_url, redis_url, redis_prefix()) as house:
        yield house


async def test_the_time_that_a_service_was_away_is_the_databases(house_in_the_future: House) -> None:
    house = house_in_the_future
    house.engine.behaviours[IMAGE] = Behaviour(answers=False)
    house.replica(starting_timeout=4)
    waiting, other = await house.create(), await house.create(Desired.STANDBY)
    await house.until_phase(other, Phase.STANDBY)
    await until_step(house, waiting, Step.STARTED)
    house.engine.lay(Call.ENGINE, Fault(RuntimeAway("nobody there")))
    house.engine.lay(Call.PULL, Fault(RuntimeAway("nobody there"), times=1))
    await house.wish(other, Desired.RUNNING)
    await until_step(house, other, Step.PULL)
    await asyncio.sleep(5)  # longer than a start may take
    house.engine.behaviours[IMAGE] = Behaviour()
    house.engine.clear_faults()
    for workspace_id in (waiting, other):
        await house.until_phase(workspace_id, Phase.RUNNING)
        assert not await failures(house, workspace_id)


async def test_where_the_databases_clock_is_set_back_by_a_day_workspaces_go_on(house_in_the_future: House) -> None:
    house = house_in_the_future
    house.replica()
    at_work, asleep = await house.create(), await house.create(Desired.STANDBY)
    await house.until_phase(at_work, Phase.RUNNING, 60)
    await house.until_phase(asleep, Phase.STANDBY, 60)
    await set_clock(house.database_url, "0 days")
    house.engine.kill(at_work)

    async def died() -> bool | None:
        return "death" in [kind for kind, *_ in await house.events(at_work)] or None

    await until(died, 60)
    await house.until_phase(at_work, Phase.RUNNING, 60)
    for workspace_id, wish in ((at_work, Desired.STANDBY), (asleep, Desired.RUNNING), (at_work, Desired.ARCHIVED)):
        await house.wish(workspace_id, wish)
        await house.until_phase(workspace_id, Phase(wish.value), 60)
        assert not await failures(house, workspace_id)


def test_between_two_answers_of_the_database_its_time_goes_on() -> None:
    passed = 100.0
    answer = datetime(2030, 1, 1, tzinfo=UTC)
    clock = DatabaseClock(lambda: passed, answer)
    passed += 2
    assert clock.now() == answer + timedelta(seconds=2)
    clock.set(answer - timedelta(hours=1))
    passed += 3
    assert clock.now() == answer - timedelta(hours=1) + timedelta(seconds=3)
