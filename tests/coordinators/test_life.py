"""The life of a workspace through real coordinators, PostgreSQL and Redis."""

from uuid import uuid4

from codehub.model.states import Desired, Phase
from codehub.runtimes.protocols import Resources
from codehub.store.wishes import Because, NewWorkspace, create_workspace
from tests.coordinators.house import House


async def test_a_workspace_comes_to_run_stands_by_runs_again_and_is_deleted(house: House) -> None:
    house.replica()
    workspace_id = await house.create()
    running = await house.until_phase(workspace_id, Phase.RUNNING)
    assert len(house.engine.containers) == 1
    await house.wish(workspace_id, Desired.STANDBY)
    standing_by = await house.until_phase(workspace_id, Phase.STANDBY)
    assert not house.engine.containers
    assert standing_by.home_volume == running.home_volume
    await house.wish(workspace_id, Desired.RUNNING)
    await house.until_phase(workspace_id, Phase.RUNNING)
    await house.wish(workspace_id, Desired.DELETED)
    await house.until_phase(workspace_id, Phase.DELETED)
    assert not house.engine.containers
    assert not house.engine.homes


async def test_what_a_workspace_may_use_is_its_own_choice_before_that_of_its_template(house: House) -> None:
    house.replica()
    workspace_id = uuid4()
    async with house.pool.begin() as connection:
        new = NewWorkspace(workspace_id, house.owner, "garden", house.template, resources={"cpus": 0.5})
        await create_workspace(connection, new, Desired.RUNNING, Because("owner", "ann"))
    await house.until_phase(workspace_id, Phase.RUNNING)
    [container] = house.engine.containers.values()
    assert container.spec.resources == Resources(cpus=0.5)
