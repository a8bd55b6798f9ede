"""The engine stops and comes back, or comes back as another one: no home is lost, and everybody runs again."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from uuid import UUID

import pytest

from codehub.model.states import Desired, Phase
from codehub.runtimes.protocols import InstanceState
from tests.coordinators.house import until
from tests.faults.own_engine import IMAGE, OwnEngine, own_engine
from tests.faults.real_house import PATIENCE_SECONDS, DockerHouse, docker_house
from tests.faults.serving import Served, replicas

NOT_BELIEVED = "listing not believed: no home is judged by it until this is mended"


@pytest.fixture
async def engine() -> AsyncIterator[OwnEngine]:
    async with own_engine() as engine:
        yield engine


@pytest.fixture
async def house(
    database_url: str, redis_url: str, redis_prefix: Callable[[], str], engine: OwnEngine
) -> AsyncIterator[DockerHouse]:
    async with docker_house(database_url, redis_url, redis_prefix(), IMAGE, engine.host) as house:
        yield house


@pytest.fixture
async def served(house: DockerHouse, engine: OwnEngine, redis_url: str, tmp_path: Path) -> AsyncIterator[Served]:
    with replicas(house, redis_url, tmp_path, RUNTIME_DOCKER_HOST=engine.host) as codehub:
        codehub.within = engine.within
        yield codehub.start()


async def test_an_engine_that_stops_and_starts_runs_everybody_again(
    house: DockerHouse, engine: OwnEngine, served: Served
) -> None:
    workspaces = await people_at_work(house)
    await engine.stop()
    late = await house.create()
    await until(lambda: told(served, "service away: what needs it waits"), PATIENCE_SECONDS)
    await engine.start()
    await at_work_again(house, [*workspaces, late])
    assert not [event for each in [*workspaces, late] for event in await house.events(each) if event[2] == "ERROR"]


async def test_an_engine_that_was_replaced_by_an_empty_one_is_an_alarm_and_loses_no_home(
    house: DockerHouse, engine: OwnEngine, served: Served
) -> None:
    workspaces = await people_at_work(house)
    await engine.stop()
    await engine.start("another disk")
    await until(lambda: told(served, NOT_BELIEVED), PATIENCE_SECONDS)
    await until(lambda: told(served, "service away: what needs it waits"), PATIENCE_SECONDS)
    late = await house.create()
    await house.wish(workspaces[0], Desired.STANDBY)
    await asyncio.sleep(4)  # beyond the two observations that would confirm a loss
    assert "the homes were made on" in (await served.health())["coordinators"]["observer"]["last_error"]
    assert not await house.eyes.volumes.list(), "no home is made anew"
    await engine.stop()
    await engine.start()
    await house.until_phase(workspaces[0], Phase.STANDBY)
    await house.wish(workspaces[0], Desired.RUNNING)
    await at_work_again(house, [*workspaces, late])
    assert not [event for each in workspaces for event in await house.events(each) if event[2] == "ERROR"]


async def people_at_work(house: DockerHouse) -> list[UUID]:
    workspaces = [await house.create() for _ in range(3)]
    for workspace_id in workspaces:
        await house.until_phase(workspace_id, Phase.RUNNING)
        await house.inside(workspace_id, "echo kept > ~/note")
    return workspaces


async def at_work_again(house: DockerHouse, workspaces: list[UUID]) -> None:
    """All run, each in one container and with its own home; those that had something in it find it."""

    async def all_run() -> bool | None:
        phases = {(await house.row(each)).phase for each in workspaces}
        states = [each.state for each in await house.eyes.instances.list()]
        return (phases == {Phase.RUNNING} and states == [InstanceState.RUNNING] * len(workspaces)) or None

    await until(all_run, PATIENCE_SECONDS)
    assert len(await house.eyes.volumes.list()) == len(workspaces)
    for workspace_id in workspaces[:3]:
        assert await house.inside(workspace_id, "cat ~/note") == "kept"


async def told(served: Served, event: str) -> bool | None:
    return any(line["event"] == event for line in served.said()) or None
