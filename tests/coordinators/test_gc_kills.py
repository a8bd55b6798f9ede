"""A collector that dies, or finds nobody there, at any step of a round: the next one takes what was to go and nothing
else. The steps are those that a round was seen to take: a new one has its case from its first day."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import pytest

from codehub.archives.errors import StoreUnreachable
from codehub.decide.orphans import OrphanKind
from codehub.job.order import Kind
from codehub.model.workspace import archive_key
from codehub.runtimes.errors import RuntimeAway
from codehub.runtimes.protocols import VolumeSpec
from codehub.store import gc_rounds
from tests.contracts.job_kit import done, errand
from tests.contracts.object_store_places import in_directory
from tests.coordinators.collecting import POLICY, Collecting, collecting
from tests.coordinators.footsteps import Footsteps
from tests.coordinators.house import until
from tests.coordinators.test_gc_faults import kill_the_leader

LEASE_SECONDS = 2.0
"""So long each new leader waits before it removes anything."""
ROUND_SECONDS = 240
OUTSIDE = {"store": StoreUnreachable, "runtime": RuntimeAway}
"""What a round stands on besides the database, and how it shows that nobody is there."""


@pytest.fixture
def footsteps() -> Footsteps:
    return Footsteps()


@pytest.fixture
async def house(database_url: str, tmp_path: Path, footsteps: Footsteps) -> AsyncIterator[Collecting]:
    policy = replace(POLICY, max_share=1.0)
    for folder in ("archives", "first", "second"):
        (tmp_path / folder).mkdir()
    store = in_directory(tmp_path / "archives").open()
    async with collecting(database_url, store, policy=policy, reached=footsteps.reached) as made:
        yield made


@dataclass(frozen=True)
class Outside:
    """All that is there besides the database."""

    objects: frozenset[str]
    uploads: int
    volumes: frozenset[str]
    containers: frozenset[str]
    jobs: frozenset[str]


async def outside(house: Collecting) -> Outside:
    return Outside(
        objects=frozenset(each for each in await house.objects() if not each.startswith("installation/")),
        uploads=len([each async for each in house.store.unfinished()]),
        volumes=frozenset(await house.volumes()),
        containers=frozenset(await house.containers()),
        jobs=frozenset(each.name for each in await house.runtime().jobs.list()),
    )


@asynccontextmanager
async def rubbish(house: Collecting, folder: Path) -> AsyncIterator[Outside]:
    """One thing of every kind that is to go, beside others that are to stay: what is there without it."""
    workspace_id = await house.workspace()
    older, *_ = [await house.generation(workspace_id) for _ in range(4)]
    home, superseded = await house.volume(workspace_id), await house.volume(workspace_id)
    await house.execute("UPDATE workspaces SET home_volume = :home WHERE id = :id", home=home, id=workspace_id)
    await house.seen(workspace_id, volume=home)
    stray = await house.container(uuid4())
    volume = await house.volume(other := await house.workspace())
    job = await done(house.runtime(), errand(folder).spec(Kind.ARCHIVE, VolumeSpec(volume, other, uuid4(), 1)))
    async with house.store.upload(archive_key(workspace_id, uuid4())):
        there = await outside(house)
        yield Outside(
            there.objects - {older, f"{older}.meta"},
            there.uploads - 1,
            there.volumes - {superseded},
            there.containers - {stray},
            there.jobs - {job.name},
        )


async def taken_by_a_round(house: Collecting) -> dict[str, int]:
    """What the round took that came to its end, however many were cut short before."""
    async with house.pool.begin() as connection:
        asked = await gc_rounds.ask(connection, "ann")

    async def ended() -> dict[str, int] | None:
        async with house.pool.connect() as connection:
            found = await gc_rounds.one(connection, asked["id"])
        return found["deleted"] if found is not None and found["ended_at"] is not None else None

    return await until(ended, ROUND_SECONDS)


async def steps_of_a_round(house: Collecting, footsteps: Footsteps, folder: Path) -> list[str]:
    """Those of one that takes something of every kind, with nobody in its way."""
    async with rubbish(house, folder) as left:
        replica = house.lead(lease_seconds=LEASE_SECONDS)
        await house.round()
        await house.graces_end()
        assert await taken_by_a_round(house) == dict.fromkeys(OrphanKind, 1)
        await replica.stop()
        assert await outside(house) == left
    return list(footsteps.taken)


def is_away(step: str) -> Callable[[], Awaitable[None]]:
    async def nobody() -> None:
        raise OUTSIDE[step.partition(".")[0]]("nobody is there")

    return nobody


@pytest.mark.timeout(480)
@pytest.mark.parametrize("fate", ["it is killed", "nobody is there"])
async def test_at_every_step_of_a_round(house: Collecting, footsteps: Footsteps, tmp_path: Path, fate: str) -> None:
    async def dies() -> None:
        await kill_the_leader(house)
        house.lead(lease_seconds=LEASE_SECONDS)  # one that has not failed before loses no time
        await asyncio.get_running_loop().create_future()  # until it is cancelled: the dead return to nobody

    steps = await steps_of_a_round(house, footsteps, tmp_path / "first")
    async with rubbish(house, tmp_path / "second") as left:
        house.lead(lease_seconds=LEASE_SECONDS)
        await house.round()
        await house.graces_end()
        if fate == "it is killed":
            footsteps.traps = dict.fromkeys(steps, dies)
        else:
            footsteps.traps = {step: is_away(step) for step in steps if step.partition(".")[0] in OUTSIDE}
        for _ in range(3):  # where one is cut short nothing else is done, but what cannot be removed waits for the next
            await house.execute("UPDATE home_counter SET value = value + 1")  # so that there is a mark to be left
            await taken_by_a_round(house)
        assert footsteps.traps == {}, "nobody came this way"
        assert await outside(house) == left
        assert await house.count("orphans") == 0
        assert await house.count("archives") == 6
