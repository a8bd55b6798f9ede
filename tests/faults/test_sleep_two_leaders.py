"""Two who believe to lead, and one that was frozen in the middle of a step and comes back when all is done: what it
asks for late harms no home."""

import signal
from collections.abc import AsyncIterator
from functools import partial
from uuid import UUID

import pytest

from codehub.coordinators.workspace_controller import WorkspaceController
from codehub.model.states import Desired, Operation, Phase, Step
from tests.coordinators.test_archive_trouble import failures
from tests.coordinators.test_services import begun, leads
from tests.faults.real_house import DockerHouse
from tests.faults.round_trip import was_never_in_error
from tests.faults.sleepers import CONTROLLER, JOBS_SECONDS, ServedSleepers, served_sleepers, sleepers
from tests.job.campaign import LARGE

CREATE, START, DELETE = "POST .*/containers/create", "POST .*/containers/[^ ]*/start", "DELETE .*/volumes/"
FREEZES = [
    (Step.ARCHIVE, Desired.ARCHIVED, CREATE, False),
    (Step.VERIFY, Desired.ARCHIVED, CREATE, False),
    (Step.RELEASE, Desired.ARCHIVED, DELETE, False),
    (Step.RESTORE, Desired.STANDBY, CREATE, False),
]
"""In which steps a leader is frozen, on the way to what, over which request, and whether that has its effect before."""
if LARGE:  # begun, its job waits a minute for its order
    FREEZES += [(Step.ARCHIVE, Desired.ARCHIVED, START, True), (Step.RESTORE, Desired.STANDBY, START, True)]


@pytest.fixture
async def served(house: DockerHouse, docker_image: str, redis_url: str) -> AsyncIterator[ServedSleepers]:
    async with served_sleepers(house, docker_image, redis_url) as made:
        yield made


async def freeze(served: ServedSleepers, workspace_id: UUID, phase: Phase) -> bool:
    """Until others have done the work. Its request goes on then."""
    leader = await served.leader()
    leader.process.send_signal(signal.SIGSTOP)
    await served.house.until_phase(workspace_id, phase, JOBS_SECONDS)
    leader.process.send_signal(signal.SIGCONT)
    return True


@pytest.mark.timeout(900)
async def test_a_frozen_leader_that_comes_back_late_takes_nothing_away(served: ServedSleepers) -> None:
    house = served.house
    await served.staff()
    workspace_id, before = await served.furnished()
    for step, wish, request, after_effect in FREEZES:
        await served.carried_out(workspace_id, Desired.ARCHIVED if wish is Desired.STANDBY else Desired.STANDBY)
        strike = partial(freeze, served, workspace_id, Phase(wish.value))
        trap = served.lay(workspace_id, step, strike, request=request, after_effect=after_effect)
        await house.wish(workspace_id, wish)
        await trap.struck.wait()
        for each in served.codehub.alive():
            assert (await each.health())["coordinators"], "it does not come to its senses"
        row = await served.carried_out(workspace_id, Desired.STANDBY)
        assert await served.tree(workspace_id) == before, step
        assert await served.volumes(workspace_id) == [row.home_volume], step
    assert await failures(house, workspace_id) == []


@pytest.mark.timeout(900)
async def test_two_controllers_at_once_move_every_home_once(house: DockerHouse, docker_image: str) -> None:
    async with sleepers(house, docker_image) as place:
        first, second = house.replica(), house.replica()
        for replica, lock_name in ((first, CONTROLLER), (second, f"{CONTROLLER}:by-mistake")):
            for each in replica.supervisor.coordinators:
                if isinstance(each, WorkspaceController):
                    each.lock_name = lock_name
        await leads(first)
        await leads(second)
        homes = dict([await place.furnished() for _ in range(2)])
        for wish in (Desired.ARCHIVED, Desired.STANDBY):
            for workspace_id in homes:
                await house.wish(workspace_id, wish)
            for workspace_id in homes:
                await house.until_phase(workspace_id, Phase(wish.value), JOBS_SECONDS)
        for workspace_id, before in homes.items():
            row = await house.row(workspace_id)
            assert await place.tree(workspace_id) == before
            assert row.home_volume in await place.volumes(workspace_id)
            assert await begun(house, workspace_id, Operation.ARCHIVING) == 1
            assert await begun(house, workspace_id, Operation.RESTORING) == 1
            await was_never_in_error(place, workspace_id)


@pytest.mark.timeout(900)
async def test_a_job_that_another_removes_as_it_is_begun_is_begun_again(house: DockerHouse, docker_image: str) -> None:
    async with sleepers(house, docker_image) as place:
        house.replica()
        workspace_id, before = await place.furnished()

        async def remove_jobs() -> bool:
            for each in await house.eyes.jobs.list(workspace_id):
                await house.eyes.jobs.remove(each.name)
            return True

        trap = place.lay(workspace_id, Step.VERIFY, remove_jobs, request=START)
        await place.carried_out(workspace_id, Desired.ARCHIVED)
        assert trap.struck.is_set()
        await place.carried_out(workspace_id, Desired.STANDBY)
        assert await place.tree(workspace_id) == before
        assert await failures(house, workspace_id) == []
