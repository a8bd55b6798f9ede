"""PostgreSQL and Redis go and come back while workspaces run on the real engine: they run on, wishes are reached."""

from pathlib import Path
from uuid import UUID

from codehub.model.states import Desired, Phase
from codehub.stack.account import Account
from codehub.store import migrate
from tests.coordinators.house import until
from tests.coordinators.own_service import own_postgres, own_redis
from tests.coordinators.sessions import kill_all
from tests.databases import create_database
from tests.faults.real_house import DockerHouse, docker_house
from tests.faults.serving import Served, replicas


async def test_services_that_go_and_come_back_disturb_no_workspace(
    services_folder: Path, account: Account, docker_image: str, tmp_path: Path
) -> None:
    async with own_postgres(services_folder, account) as (postgres, maintenance_url):
        database_url = await create_database(maintenance_url)
        await migrate.upgrade(database_url)
        async with (
            own_redis(services_folder, account) as (redis, redis_url),
            docker_house(database_url, redis_url, "below", docker_image) as house,
        ):
            with replicas(house, redis_url, tmp_path) as codehub:
                served = codehub.start()
                moving, resting = await house.create(), await house.create()
                for workspace_id in (moving, resting):
                    await house.until_phase(workspace_id, Phase.RUNNING)
                undisturbed = await house.instance(resting)

                await redis.stop()
                await moved(house, moving, Desired.STANDBY)
                await redis.start()
                await moved(house, moving, Desired.RUNNING)

                await kill_all(database_url)
                await moved(house, moving, Desired.STANDBY)

                await postgres.stop()
                await until(lambda: nobody_leads(served), 60)
                await postgres.start()
                await moved(house, moving, Desired.RUNNING)

                assert await house.instance(resting) == undisturbed
                assert (await house.row(resting)).phase is Phase.RUNNING
                assert len(await house.eyes.instances.list()) == len(await house.eyes.volumes.list()) == 2


async def moved(house: DockerHouse, workspace_id: UUID, desired: Desired) -> None:
    await house.wish(workspace_id, desired)
    await house.until_phase(workspace_id, Phase(desired.value))


async def nobody_leads(served: Served) -> bool | None:
    return not (await served.health())["is_leader"] or None
