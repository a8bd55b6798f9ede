"""`kill -9` of those that a home depends on while it is moved: its job and the store. What was wished comes
about by itself, and every file is there as it was."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from aiodocker.exceptions import DockerError
from sqlalchemy import text

from codehub.archives.open import ensure_bucket, open_store
from codehub.job.order import Kind
from codehub.job.progress import Stage
from codehub.model.states import Desired, Service, Step
from codehub.runtimes.errors import NotFound
from codehub.runtimes.protocols import JobState
from codehub.stack import binaries
from codehub.stack.account import Account
from codehub.stack.seaweedfs import SeaweedFS, remembered_ports
from tests.coordinators.house import until
from tests.coordinators.own_service import OwnService
from tests.faults.real_house import DockerHouse
from tests.faults.round_trip import there_and_back, was_never_in_error
from tests.faults.sleepers import BUCKET, JOBS_SECONDS, Sleepers, sleepers
from tests.folders import remove_seaweedfs_sockets
from tests.job.campaign import LARGE

TRIPS: list[tuple[Desired, dict[Kind, Stage]]] = [
    (Desired.ARCHIVED, {Kind.ARCHIVE: Stage.ARCHIVE, Kind.VERIFY: Stage.VERIFY}),
    (Desired.STANDBY, {Kind.RESTORE: Stage.RESTORE}),
]
"""There and back again; which jobs are killed, as soon as they tell of a stage. In every run all stages have their case
in `tests/coordinators/test_adopted_jobs.py`."""
if LARGE:
    TRIPS += [
        (Desired.ARCHIVED, {Kind.ARCHIVE: Stage.SURVEY}),
        (Desired.STANDBY, {Kind.RESTORE: Stage.SYNC}),
        (Desired.ARCHIVED, {Kind.ARCHIVE: Stage.COMMIT}),
        (Desired.STANDBY, {}),
    ]


def test_every_job_has_its_case_and_in_the_campaign_every_stage() -> None:
    assert {kind for _, killed in TRIPS for kind in killed} == set(Kind)
    assert not LARGE or {stage for _, killed in TRIPS for stage in killed.values()} == set(Stage)


@pytest.fixture
async def place(house: DockerHouse, docker_image: str) -> AsyncIterator[Sleepers]:
    async with sleepers(house, docker_image) as made:
        yield made


@pytest.mark.timeout(900)
async def test_a_job_that_is_killed_is_followed_by_another(place: Sleepers) -> None:
    place.house.replica()
    workspace_id, before = await place.furnished(kibibytes=20_000)
    killed = []
    for wish, victims in TRIPS:
        async with asyncio.TaskGroup() as group:
            strikes = [group.create_task(kill(place, workspace_id, kind, stage)) for kind, stage in victims.items()]
            await place.carried_out(workspace_id, wish)
        killed += [each.result() for each in strikes]
        if wish is Desired.STANDBY:
            assert await place.tree(workspace_id) == before
        assert len(await place.volumes(workspace_id)) == (1 if wish is Desired.STANDBY else 0)
    assert any(killed), "all had ended before"
    await was_never_in_error(place, workspace_id)


async def kill(place: Sleepers, workspace_id: UUID, kind: Kind, stage: Stage) -> bool:
    """The next job of this kind, when it tells of this stage. Whether it was not over by then."""
    jobs = place.house.eyes.jobs

    async def begun() -> str | None:
        running = [each.name for each in await jobs.list(workspace_id) if each.state is JobState.RUNNING]
        return next((name for name in running if name.endswith(f"-{kind}")), None)

    name = await until(begun, JOBS_SECONDS)
    try:
        async with aclosing(jobs.follow(name)) as lines:
            async for line in lines:
                if json.loads(line).get("stage") == stage:
                    break
        await place.house.docker.containers.container(name).kill()
    except (NotFound, DockerError):
        return False
    return True


@pytest.fixture
async def own_store(services_folder: Path, account: Account) -> AsyncIterator[OwnService]:
    folder = services_folder / f"seaweedfs-{uuid4().hex[:8]}"
    service = SeaweedFS(
        folder=folder,
        sockets=folder.with_name(f"{folder.name}-sockets"),
        programs=binaries.reachable(binaries.seaweedfs(), account, services_folder / "bin"),
        account=account,
        access_key=uuid4().hex,
        secret_key=uuid4().hex,
        ports=remembered_ports(folder.with_name(f"{folder.name}-ports.json")),
        log=folder.with_name(f"{folder.name}.log"),
    )
    own = OwnService(service)
    await own.start()
    try:
        yield own
    finally:
        own.kill()
        remove_seaweedfs_sockets(service.ports.values())


@pytest.mark.timeout(900)
async def test_a_store_that_is_killed_is_waited_for_as_long_as_it_is_away(
    house: DockerHouse, docker_image: str, own_store: OwnService
) -> None:
    assert isinstance(own_store.service, SeaweedFS)
    await ensure_bucket(f"s3://{BUCKET}", **own_store.service.access)
    house.store = open_store(f"s3://{BUCKET}", **own_store.service.access)
    async with sleepers(house, docker_image) as place, asyncio.TaskGroup() as group:
        report = house.replica().supervisor.reports

        async def come_back(failed_before: int) -> None:
            """When everybody has noticed, and nobody was blamed for it."""

            async def is_noticed() -> bool | None:
                return report["wc"].services.get(Service.ARCHIVE_STORE) is False or None

            await until(is_noticed, JOBS_SECONDS)
            assert await failed() == failed_before
            await own_store.start()

        async def failed() -> int:
            async with house.pool.connect() as connection:
                return int(await connection.scalar(text("SELECT sum(error_count) FROM workspaces")) or 0)

        async def strike() -> bool:
            own_store.kill()
            group.create_task(come_back(await failed()))
            return True

        await there_and_back(place, strike, {Step.VERIFY, Step.RESTORE})
