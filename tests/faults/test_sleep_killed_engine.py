"""`kill -9` of the engine while a home is moved: what was wished comes about by itself, with every file as it was."""

import asyncio
from collections.abc import Callable

import pytest

from codehub.model.states import Step
from tests.faults.gate import to_engine
from tests.faults.own_engine import IMAGE, own_engine
from tests.faults.real_house import docker_house
from tests.faults.round_trip import there_and_back
from tests.faults.sleepers import served_sleepers
from tests.runtimes.docker.job_image import job_image


@pytest.mark.timeout(900)
async def test_an_engine_that_is_killed_at_any_step_is_waited_for(
    database_url: str, redis_url: str, redis_prefix: Callable[[], str]
) -> None:
    jobs = await job_image()
    async with (
        own_engine() as engine,
        docker_house(database_url, redis_url, redis_prefix(), IMAGE, engine.host) as house,
        served_sleepers(house, IMAGE, redis_url) as place,
        asyncio.TaskGroup() as group,
    ):
        engine.give(jobs)
        place.engine, place.codehub.within = to_engine(engine.folder / "docker.sock"), engine.within
        await place.staff(1)

        async def fall() -> None:
            await engine.kill()
            await engine.revive()

        async def strike() -> bool:
            group.create_task(fall())  # not here: the gate falls with it
            return False

        await there_and_back(place, strike, {Step.ARCHIVE, Step.RELEASE, Step.RESTORE})
