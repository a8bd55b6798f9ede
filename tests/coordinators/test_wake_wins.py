"""Whoever wakes a workspace while it is being archived finds it running after a plain start: nothing is waited for, and
nothing is restored, until its volume was let go of."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

import pytest

from codehub.archives.directory import DirectoryStore
from codehub.archives.errors import StoreUnreachable
from codehub.archives.object_store import ObjectInfo
from codehub.decide.plan import HOME_IS_LET_GO
from codehub.job.order import Kind
from codehub.job.progress import Stage
from codehub.model.states import Desired, Operation, Phase, Step
from codehub.runtimes.memory_engine import Call, Fault, MemoryEngine
from tests.coordinators.homes import Content, content, furnished, held, hold, home_of, keys_of, opened
from tests.coordinators.house import IMAGE, House, until
from tests.coordinators.test_kills import steps_of

MOMENTS = [
    (Step.ARCHIVE, Stage.SURVEY),
    (Step.ARCHIVE, Stage.ARCHIVE),
    (Step.ARCHIVE, Stage.COMMIT),
    (Step.ARCHIVE, "result"),
    (Step.VERIFY, Stage.VERIFY),
    (Step.VERIFY, "result"),
    (Step.VERIFIED, None),
]
"""Where it is met; in VERIFIED nobody works, and the archive is waited for to be seen."""


@dataclass
class Diary(MemoryEngine):
    """An engine that writes down what it was asked to change."""

    asked: list[Call] = field(default_factory=list)

    @asynccontextmanager
    async def call(self, call: Call, about: str = "") -> AsyncIterator[None]:
        async with super().call(call, about):
            if call in (Call.RUN_JOB, Call.REMOVE_JOB, Call.START, Call.CREATE_VOLUME, Call.DELETE_VOLUME):
                self.asked.append(call)
            yield


class Veiled(DirectoryStore):
    """A store in which nobody can look at archives; whoever asks whether it is there is told that it is."""

    veiled = False

    async def head(self, key: str) -> ObjectInfo | None:
        if self.veiled and key.endswith(".zst"):
            raise StoreUnreachable(f"{key} cannot be looked at")
        return await super().head(key)


@pytest.fixture
def diary(house: House) -> Diary:
    house.engine = diary = Diary(images={IMAGE})
    return diary


@pytest.fixture
def store(house: House) -> Veiled:
    house.store = store = Veiled(house.relay_folder.with_name("archives"))
    return store


def test_every_step_before_the_point_of_no_return_has_its_case() -> None:
    before = [step for step in steps_of(Operation.ARCHIVING) if step not in HOME_IS_LET_GO]
    assert list(dict.fromkeys(step for step, _ in MOMENTS)) == before


async def met(house: House, store: Veiled, step: Step, at: str | None) -> tuple[UUID, Content]:
    """A workspace that is being archived, and has come so far."""
    workspace_id, before = await furnished(house)
    if at is None:
        store.veiled = True
    else:
        hold(house, Kind(step.value), at)
    await house.wish(workspace_id, Desired.ARCHIVED)
    if at is not None:
        await held(house, workspace_id, step, at)

    async def there() -> bool | None:
        return (await house.row(workspace_id)).op_step is step or None

    await until(there, 30)
    return workspace_id, before


@pytest.mark.parametrize(("step", "at"), MOMENTS)
async def test_a_wake_costs_no_more_than_a_start(
    house: House, diary: Diary, store: Veiled, step: Step, at: str | None
) -> None:
    house.replica()
    workspace_id, before = await met(house, store, step, at)
    home = (await house.row(workspace_id)).home_volume
    diary.asked.clear()
    await house.wish(workspace_id, Desired.RUNNING)
    running = await house.until_phase(workspace_id, Phase.RUNNING)
    assert (running.home_volume, content(home_of(house, running))) == (home, before)
    first, *_ = [call for call in diary.asked if call is not Call.REMOVE_JOB]
    assert first is Call.START, "something else was done before it was started"
    assert not house.engine.disk.jobs, "a job runs on beside its owner"
    assert [event for event in await house.events(workspace_id) if event[:3] == ("operation", "ARCHIVING", "NONE")] == [
        ("operation", "ARCHIVING", "NONE", "wish_changed")
    ]


@pytest.mark.parametrize(("step", "at"), MOMENTS)
async def test_an_archive_that_was_called_off_is_never_taken_for_the_newer_home(
    house: House, diary: Diary, store: Veiled, step: Step, at: str | None
) -> None:
    house.replica()
    workspace_id, _ = await met(house, store, step, at)
    former = (await house.row(workspace_id)).archive_op_id
    await house.wish(workspace_id, Desired.RUNNING)
    running = await house.until_phase(workspace_id, Phase.RUNNING)
    (home_of(house, running) / "project" / "notes.txt").write_text("written after the wake\n")
    newer = content(home_of(house, running))
    store.veiled = False
    await house.wish(workspace_id, Desired.ARCHIVED)
    row = await house.until_phase(workspace_id, Phase.ARCHIVED)
    assert row.archive_op_id != former
    assert Call.DELETE_VOLUME in diary.asked
    assert await opened(house, workspace_id) == newer


async def test_once_the_volume_is_let_go_of_a_wake_brings_it_back_from_the_archive(house: House) -> None:
    house.replica()
    workspace_id, before = await furnished(house)
    house.engine.lay(Call.DELETE_VOLUME, Fault(wait_seconds=0.5))
    await house.wish(workspace_id, Desired.ARCHIVED)

    async def let_go() -> bool | None:
        return (await house.row(workspace_id)).op_step in HOME_IS_LET_GO or None

    await until(let_go, 30)
    await house.wish(workspace_id, Desired.RUNNING)
    running = await house.until_phase(workspace_id, Phase.RUNNING)
    assert content(home_of(house, running)) == before
    assert running.restore_marker == running.archive_key
    assert len(house.engine.homes) == 1


async def test_a_restore_is_called_off_by_a_deletion_and_leaves_the_archive(house: House) -> None:
    house.replica()
    workspace_id, _ = await furnished(house)
    await house.wish(workspace_id, Desired.ARCHIVED)
    await house.until_phase(workspace_id, Phase.ARCHIVED)
    hold(house, Kind.RESTORE, Stage.RESTORE)
    await house.wish(workspace_id, Desired.RUNNING)
    await held(house, workspace_id, Step.RESTORE, Stage.RESTORE)
    await house.wish(workspace_id, Desired.DELETED)
    await house.until_phase(workspace_id, Phase.DELETED)
    assert not house.engine.homes
    assert not house.engine.disk.jobs
    assert len(await keys_of(house.store, workspace_id)) == 2


async def test_archives_leave_the_last_place_to_homes_that_people_wait_for(house: House) -> None:
    house.replica(max_concurrent_jobs=2)
    asleep, before = await furnished(house)
    await house.wish(asleep, Desired.ARCHIVED)
    await house.until_phase(asleep, Phase.ARCHIVED)
    others = [(await furnished(house))[0] for _ in range(2)]
    for each in others:
        hold(house, Kind.ARCHIVE, Stage.ARCHIVE)
        await house.wish(each, Desired.ARCHIVED)

    async def one_is_held() -> bool | None:
        return len(house.engine.disk.jobs) == 1 or None

    await until(one_is_held, 30)
    await house.wish(asleep, Desired.RUNNING)
    assert content(home_of(house, await house.until_phase(asleep, Phase.RUNNING))) == before
    house.engine.trips.clear()
    for each in others:
        house.engine.release_jobs(each)
        await house.until_phase(each, Phase.ARCHIVED)
