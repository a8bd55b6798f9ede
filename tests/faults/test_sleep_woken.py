"""Whoever wakes a workspace in the middle of its archiving finds it running, with every file as it was. All steps have
their case in `tests/coordinators/test_wake_wins.py`; here they have it in the campaign."""

from collections.abc import AsyncIterator

import pytest

from codehub.decide.plan import HOME_IS_LET_GO
from codehub.decide.steps import SIGHT
from codehub.model.states import Desired, Operation, Phase, Step
from tests.coordinators.test_archive_trouble import failures
from tests.coordinators.test_kills import steps_of
from tests.faults.real_house import DockerHouse
from tests.faults.sleepers import JOBS_SECONDS, Sleepers, sleepers
from tests.job.campaign import LARGE

STEPS = [step for step in steps_of(Operation.ARCHIVING) if LARGE or step in (Step.VERIFY, Step.RELEASE)]
LOOK = "GET .*/volumes[?]"
"""Held up, it keeps everybody from seeing a step done, and from going on to the next before the wish is stored."""


@pytest.fixture
async def place(house: DockerHouse, docker_image: str) -> AsyncIterator[Sleepers]:
    async with sleepers(house, docker_image) as made:
        yield made


@pytest.mark.timeout(900)
async def test_a_wake_in_the_middle_of_archiving_loses_nothing(place: Sleepers) -> None:
    house = place.house
    house.replica()
    workspace_id, before = await place.furnished()

    async def wake() -> bool:
        await house.wish(workspace_id, Desired.RUNNING)
        return True

    for step in STEPS:
        home = (await house.row(workspace_id)).home_volume
        trap = place.lay(workspace_id, step, wake, request=LOOK if step in SIGHT else ".*")
        await house.wish(workspace_id, Desired.ARCHIVED)
        await trap.struck.wait()
        woken = await house.until_phase(workspace_id, Phase.RUNNING, JOBS_SECONDS)
        assert (woken.home_volume == home) == (step not in HOME_IS_LET_GO), step
        assert await place.tree(workspace_id) == before, step
        assert await place.volumes(workspace_id) == [woken.home_volume]
        await place.no_jobs_are_left(workspace_id)
    called_off = [event for event in await house.events(workspace_id) if event[3] == "wish_changed"]
    assert len(called_off) == len(set(STEPS) - set(HOME_IS_LET_GO))
    assert await failures(house, workspace_id) == []
