"""Archives with one wrong bit or a missing end, through the whole product: none is ever opened or touched, nothing half
restored ever runs, and the owner has the older files back for the asking."""

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest

from codehub.model.states import Desired, ErrorReason, Operation, Phase
from codehub.model.workspace import RequestKind, Workspace
from tests.coordinators.house import until
from tests.coordinators.test_archive_trouble import ask, file_of
from tests.faults import trees
from tests.faults.real_house import DockerHouse
from tests.faults.sleepers import JOBS_SECONDS, Sleepers, sleepers
from tests.job.campaign import size

WORKSPACES = size(small=2, large=10)
DAMAGES = size(small=3, large=50)
"""For each workspace: flips and cuts in turn."""


@pytest.fixture
async def place(house: DockerHouse, docker_image: str) -> AsyncIterator[Sleepers]:
    async with sleepers(house, docker_image) as made:
        yield made


def damaged(data: bytes, seed: int) -> bytes:
    chosen = random.Random(seed)  # noqa: S311 (the same places in every run)
    place = chosen.randrange(len(data))
    if seed % 3 == 2:
        return data[:place]
    return data[:place] + bytes([data[place] ^ 1 << chosen.randrange(8)]) + data[place + 1 :]


def files(house: DockerHouse, workspace_id: UUID) -> dict[Path, bytes]:
    """All that the store has of a workspace."""
    folder = file_of(house, str(workspace_id))
    return {each: each.read_bytes() for each in folder.rglob("*") if each.is_file()}


async def refused(house: DockerHouse, workspace_id: UUID, key: str) -> None:
    """What was asked for was tried, and came to ERROR without anything having run."""

    async def in_error() -> Workspace | None:
        row = await house.row(workspace_id)
        done = row.request is None and row.operation is Operation.NONE
        return row if done and row.phase is Phase.ERROR and row.error_reason is not None else None

    row = await until(in_error, JOBS_SECONDS)
    assert (row.error_reason, row.home_volume, row.archive_key) == (ErrorReason.ARCHIVE_CORRUPTED, None, key)
    assert not await house.eyes.instances.list(workspace_id)


async def two_generations(place: Sleepers) -> tuple[UUID, str, str, str]:
    """A workspace that sleeps; the key of its older archive and what is in it, and the key of the newer one."""
    workspace_id, first = await place.furnished(kibibytes=20, files=20)
    older = (await place.carried_out(workspace_id, Desired.ARCHIVED)).archive_key
    standing = await place.carried_out(workspace_id, Desired.STANDBY)
    assert standing.home_volume is not None
    await trees.furnish(place.house.docker, place.image, standing.home_volume, kibibytes=30, files=25)
    newer = (await place.carried_out(workspace_id, Desired.ARCHIVED)).archive_key
    assert older is not None
    assert newer is not None
    return workspace_id, older, first, newer


async def suffers(place: Sleepers, number: int) -> None:
    """One workspace whose newer archive is damaged again and again, and its owner's way out."""
    house = place.house
    workspace_id, older, first, newer = await two_generations(place)
    file, kept = file_of(house, newer), files(house, workspace_id)
    for seed in range(number * DAMAGES, (number + 1) * DAMAGES):
        file.write_bytes(bad := damaged(kept[file], seed))
        if seed == number * DAMAGES:
            await house.wish(workspace_id, Desired.RUNNING)
        else:
            await ask(house, workspace_id, RequestKind.RESTORE, newer)
        await refused(house, workspace_id, newer)
        assert files(house, workspace_id) == {**kept, file: bad}, seed
    assert not [event for event in await house.events(workspace_id) if event[0] == "phase" and event[2] == "RUNNING"]
    await ask(house, workspace_id, RequestKind.RESTORE, older)
    await house.until_phase(workspace_id, Phase.RUNNING, JOBS_SECONDS)
    assert await place.tree(workspace_id) == first
    assert files(house, workspace_id) == {**kept, file: bad}


@pytest.mark.timeout(size(small=900, large=7200))
async def test_a_damaged_archive_is_refused_and_the_older_one_comes_back(place: Sleepers) -> None:
    place.house.replica()
    async with asyncio.TaskGroup() as group:
        for number in range(WORKSPACES):
            group.create_task(suffers(place, number))
