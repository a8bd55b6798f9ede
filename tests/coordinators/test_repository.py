"""A workspace that was made with a repository is started by the program that clones it, and told which."""

from uuid import UUID

from sqlalchemy import text

from codehub.model import inside
from codehub.model.states import Desired, Phase
from codehub.runtimes.protocols import InstanceSpec
from tests.coordinators.house import House

URL = "https://git.example.org/shop/garden.git"


def started(house: House, workspace_id: UUID) -> InstanceSpec:
    (spec,) = [each.spec for each in house.engine.containers.values() if each.spec.workspace_id == workspace_id]
    return spec


async def test_only_one_with_a_repository_is_begun_by_the_program_that_clones_it(house: House) -> None:
    with_it, without = await house.create(Desired.STANDBY), await house.create(Desired.STANDBY)
    async with house.pool.begin() as connection:
        named = {"id": with_it, "url": URL}
        await connection.execute(text("UPDATE workspaces SET git_url = :url WHERE id = :id"), named)
    house.replica()
    for workspace_id in (with_it, without):
        await house.until_phase(workspace_id, Phase.STANDBY)
        await house.wish(workspace_id, Desired.RUNNING)
        await house.until_phase(workspace_id, Phase.RUNNING)
    spec = started(house, with_it)
    assert (spec.begin, spec.environment[inside.REPOSITORY]) == (inside.BEGIN, URL)
    spec = started(house, without)
    assert (spec.begin, inside.REPOSITORY in spec.environment) == (None, False)
