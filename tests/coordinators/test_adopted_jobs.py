"""A job outlives whoever began it: the next leader goes on with it, and nobody begins a second one."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from signal import SIGKILL
from uuid import UUID

import pytest

from codehub.job.order import Kind
from codehub.job.progress import Stage
from codehub.model.states import Desired, Phase, Step
from codehub.runtimes.memory_disk import Trip
from codehub.runtimes.memory_engine import Call, MemoryEngine
from tests.coordinators.homes import Content, archived, content, furnished, held, hold, home_of, opened
from tests.coordinators.house import IMAGE, House, until
from tests.coordinators.sessions import kill_leader, office
from tests.coordinators.test_archive_trouble import failures

LEASE_SECONDS = 2
RESULT = "result"
STEPS = {Kind.ARCHIVE: Step.ARCHIVE, Kind.VERIFY: Step.VERIFY, Kind.RESTORE: Step.RESTORE}
MOMENTS = [
    (Kind.ARCHIVE, Stage.SURVEY),
    (Kind.ARCHIVE, Stage.ARCHIVE),
    (Kind.ARCHIVE, Stage.COMMIT),
    (Kind.ARCHIVE, RESULT),
    (Kind.VERIFY, Stage.VERIFY),
    (Kind.VERIFY, RESULT),
    (Kind.RESTORE, Stage.RESTORE),
    (Kind.RESTORE, Stage.SYNC),
    (Kind.RESTORE, RESULT),
]
"""Every stage that a job tells of, and its end."""


@dataclass
class Counted(MemoryEngine):
    """Remembers which jobs it was asked to run."""

    asked: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def call(self, call: Call, about: str = "") -> AsyncIterator[None]:
        async with super().call(call, about):
            if call is Call.RUN_JOB:
                self.asked.append(about.rpartition("-")[2])
            yield


@pytest.fixture
def counted(house: House) -> Counted:
    house.engine = engine = Counted(images={IMAGE})
    return engine


def test_every_stage_has_its_case() -> None:
    assert {moment for _, moment in MOMENTS} == {*Stage, RESULT}


async def on_its_way(house: House, kind: Kind) -> tuple[UUID, Content]:
    """A workspace that is about to be moved by a job of this kind."""
    workspace_id, before = await (archived(house) if kind is Kind.RESTORE else furnished(house))
    return workspace_id, before


async def moved(house: House, workspace_id: UUID, kind: Kind) -> Content:
    """What is in the home in the end."""
    if kind is not Kind.RESTORE:
        await house.until_phase(workspace_id, Phase.ARCHIVED)
        assert not house.engine.homes
        return await opened(house, workspace_id)
    return content(home_of(house, await house.until_phase(workspace_id, Phase.STANDBY)))


@pytest.mark.parametrize(("kind", "moment"), MOMENTS)
async def test_the_next_leader_goes_on_with_the_job_of_the_one_before(
    house: House, counted: Counted, kind: Kind, moment: str
) -> None:
    house.replica(lease_seconds=LEASE_SECONDS)
    house.replica(lease_seconds=LEASE_SECONDS)
    workspace_id, before = await on_its_way(house, kind)
    hold(house, kind, moment)
    await house.wish(workspace_id, Desired.STANDBY if kind is Kind.RESTORE else Desired.ARCHIVED)
    await held(house, workspace_id, STEPS[kind], moment)
    _, epoch, _ = await office(house.database_url, "coordinator:wc")
    await kill_leader(house.database_url, "coordinator:wc")

    async def another_leads() -> bool | None:
        return (await office(house.database_url, "coordinator:wc"))[1] > epoch or None

    await until(another_leads, 30)
    house.engine.release_jobs(workspace_id)
    assert await moved(house, workspace_id, kind) == before
    assert sorted(counted.asked[:3]) == sorted(set(counted.asked)), "a job was begun twice"


@pytest.mark.parametrize(("kind", "moment"), MOMENTS)
async def test_a_job_that_is_killed_is_followed_by_another_that_does_the_whole_work(
    house: House, counted: Counted, kind: Kind, moment: str
) -> None:
    house.replica()
    workspace_id, before = await on_its_way(house, kind)
    house.engine.trips.append(Trip(kind, moment, SIGKILL))
    await house.wish(workspace_id, Desired.STANDBY if kind is Kind.RESTORE else Desired.ARCHIVED)
    assert await moved(house, workspace_id, kind) == before
    assert counted.asked.count(kind) == 2
    assert (await house.row(workspace_id)).error_count == 0


@pytest.mark.parametrize("kind", Kind)
async def test_a_job_that_somebody_removed_is_done_again(house: House, kind: Kind) -> None:
    house.replica()
    workspace_id, before = await on_its_way(house, kind)
    hold(house, kind, RESULT)
    await house.wish(workspace_id, Desired.STANDBY if kind is Kind.RESTORE else Desired.ARCHIVED)
    await held(house, workspace_id, STEPS[kind], RESULT)
    house.engine.lose_jobs(workspace_id)
    assert await moved(house, workspace_id, kind) == before
    begun_anew = ["ActionFailed"] if kind is Kind.RESTORE else []  # in another volume: nobody knows what this one has
    assert await failures(house, workspace_id) == begun_anew


async def test_what_a_job_tells_is_published_and_heard_again_by_the_next_leader(house: House) -> None:
    house.replica(lease_seconds=LEASE_SECONDS)
    workspace_id, _ = await furnished(house)
    hold(house, Kind.ARCHIVE, Stage.ARCHIVE)
    await house.wish(workspace_id, Desired.ARCHIVED)
    key = f"{house.prefix}:sse:progress:{workspace_id}"

    async def told() -> dict[str, object] | None:
        note = await house.redis.get(key)
        said = json.loads(note) if note is not None else {}
        return said if said.get("stage") == Stage.ARCHIVE else None

    said = await until(told, 30)
    assert said["op_id"] == str((await house.row(workspace_id)).op_id)
    assert isinstance(said["total"], int)
    await house.redis.delete(key)
    await kill_leader(house.database_url, "coordinator:wc")
    assert await until(told, 30)
    house.engine.release_jobs(workspace_id)
    await house.until_phase(workspace_id, Phase.ARCHIVED)
