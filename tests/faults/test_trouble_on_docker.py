"""What goes wrong with a real container, and how each ends: running again, or in ERROR with a reason and an exit."""

import asyncio
from uuid import UUID

from codehub.model.states import Desired, ErrorReason, Phase
from codehub.model.workspace import RequestKind, Workspace
from tests.coordinators.house import until
from tests.faults.real_house import DockerHouse
from tests.runtimes.docker import tool_image
from tests.runtimes.docker.registry import MISSING, PRESENT, registry
from tests.runtimes.docker.tidy import fetch, forget_image

NOBODY_LISTENS = 9
TWO_TRIALS = 5
"""So many connections mean that a registry was found away by one trial, and tried again: each makes two at most."""


async def test_a_container_that_is_killed_or_removed_from_outside_is_followed_by_another(house: DockerHouse) -> None:
    house.replica()
    workspace_id = await house.create()
    await house.until_phase(workspace_id, Phase.RUNNING)
    first = await house.instance(workspace_id)
    await house.docker.containers.container(first.id).kill()
    second = await house.until_another(workspace_id, first)
    await house.docker.containers.container(second.id).delete(force=True)
    third = await house.until_another(workspace_id, second)
    assert await fetch(third, "/starts") == b"started\n" * 3, "the same home each time"


async def test_a_home_that_is_removed_from_outside_is_lost_and_never_replaced_by_an_empty_one(
    house: DockerHouse,
) -> None:
    house.replica()
    workspace_id = await house.create(Desired.STANDBY)
    row = await house.until_phase(workspace_id, Phase.STANDBY)
    assert row.home_volume is not None
    await (await house.docker.volumes.get(row.home_volume)).delete()
    assert (await house.until_error(workspace_id)).error_reason is ErrorReason.DATA_LOST
    await house.wish(workspace_id, Desired.RUNNING)
    await house.request(workspace_id, RequestKind.RECOVER)
    lost = await house.until_answered(workspace_id)
    assert lost.error_reason is ErrorReason.DATA_LOST
    assert await house.is_gone(workspace_id)
    assert await house.eyes.volumes.stand_ins() == ()
    await house.request(workspace_id, RequestKind.START_EMPTY)
    await house.until_phase(workspace_id, Phase.RUNNING)
    assert await fetch(await house.instance(workspace_id), "/starts") == b"started\n"


async def test_a_workspace_whose_container_and_home_are_removed_has_lost_its_data(house: DockerHouse) -> None:
    house.replica()
    workspace_id = await house.create()
    row = await house.until_phase(workspace_id, Phase.RUNNING)
    assert row.home_volume is not None
    await house.docker.containers.container((await house.instance(workspace_id)).id).delete(force=True)
    await (await house.docker.volumes.get(row.home_volume)).delete()
    assert (await house.until_error(workspace_id)).error_reason is ErrorReason.DATA_LOST


async def test_an_image_that_its_registry_does_not_have_is_an_error(house: DockerHouse) -> None:
    house.replica()
    async with registry() as address:
        await house.furnish(f"{address}/{MISSING}:1")
        row = await house.until_error(await house.create())
    assert row.error_reason is ErrorReason.IMAGE_PULL_FAILED


async def test_a_registry_that_is_away_is_waited_for(house: DockerHouse) -> None:
    house.replica()
    asked = asyncio.Semaphore(0)

    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.release()
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as away, asyncio.timeout(60):
        port = away.sockets[0].getsockname()[1]
        image = f"127.0.0.1:{port}/{PRESENT}:1"
        await house.furnish(image)
        workspace_id = await house.create()
        for _ in range(TWO_TRIALS):
            await asked.acquire()
    async with registry(tool_image.root(), tool_image.COMMAND, port):
        await house.until_phase(workspace_id, Phase.RUNNING)
    assert "failure" not in {kind for kind, *_ in await house.events(workspace_id)}
    await house.wish(workspace_id, Desired.STANDBY)
    await house.until_phase(workspace_id, Phase.STANDBY)
    await forget_image(image)


async def test_an_ide_that_never_answers_is_a_timeout_and_starts_once_it_does(
    house: DockerHouse, docker_image: str
) -> None:
    house.replica(starting_timeout=2)
    await house.furnish(docker_image, port=NOBODY_LISTENS)
    workspace_id = await house.create()
    row = await house.until_error(workspace_id)
    assert row.error_reason is ErrorReason.TIMEOUT
    await house.furnish(docker_image)
    await house.request(workspace_id, RequestKind.RECOVER)
    await house.until_phase(workspace_id, Phase.RUNNING)
    assert len(await house.eyes.instances.list(workspace_id)) == 1


async def test_an_ide_that_ends_before_it_answers_uses_up_its_retries(house: DockerHouse, docker_image: str) -> None:
    house.replica()
    await house.furnish(docker_image, EXIT_CODE="3")
    workspace_id = await house.create()
    row = await house.until_error(workspace_id)
    assert row.error_reason is ErrorReason.RETRY_EXCEEDED
    await house.furnish(docker_image)
    await house.request(workspace_id, RequestKind.RECOVER)
    await house.until_phase(workspace_id, Phase.RUNNING)
    assert len(await house.eyes.instances.list(workspace_id)) == 1


async def test_an_ide_that_dies_again_and_again_is_given_up(house: DockerHouse) -> None:
    house.replica()
    workspace_id = await house.create()
    for _ in range(5):
        await house.until_phase(workspace_id, Phase.RUNNING)
        await house.inside(workspace_id, "kill -9 -1")
        await until(lambda: _stopped(house, workspace_id), 60)
    row = await house.until_error(workspace_id)
    assert row.error_reason is ErrorReason.ACTION_FAILED
    await house.request(workspace_id, RequestKind.RECOVER)
    await house.until_phase(workspace_id, Phase.RUNNING)
    assert len(await house.eyes.instances.list(workspace_id)) == 1


async def _stopped(house: DockerHouse, workspace_id: UUID) -> Workspace | None:
    row = await house.row(workspace_id)
    return row if row.phase is not Phase.RUNNING else None
