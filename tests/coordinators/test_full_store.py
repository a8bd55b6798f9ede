"""An archive store that answers and takes nothing: homes stay and wake as ever, nobody's attempts are used up, and what
is no longer needed still goes, which is how there comes to be room again."""

from collections.abc import AsyncIterator, Iterator
from uuid import UUID, uuid4

import pytest

from codehub.archives import lend
from codehub.decide.orphans import OrphanKind
from codehub.job.order import Kind
from codehub.job.progress import Stage
from codehub.model.states import Desired, Phase, Service, Step
from tests.chaos.disk import Disk, can_be_made, disk
from tests.contracts.object_store_places import in_directory
from tests.coordinators.collecting import Collecting, collecting
from tests.coordinators.homes import archived, content, furnished, held, hold, opened
from tests.coordinators.house import House, until
from tests.coordinators.test_archive_trouble import failures
from tests.folders import short_folder

pytestmark = pytest.mark.skipif(not can_be_made(), reason="only root can make a disk, and not in every container")


@pytest.fixture
def archives(house: House) -> Iterator[Disk]:
    """What the store of this house stands on."""
    with disk(house.relay_folder.with_name("archives")) as made:
        yield made


async def until_noticed(house: House) -> None:
    async def is_noticed() -> bool | None:
        return house.replicas[0].supervisor.reports["wc"].services.get(Service.ARCHIVE_ROOM) is False or None

    await until(is_noticed, 60)


async def no_attempt_failed(house: House, workspace_id: UUID) -> bool:
    row = await house.row(workspace_id)
    return (row.error_count, row.error_reason, await failures(house, workspace_id)) == (0, None, [])


@pytest.mark.parametrize("is_begun", [False, True])
async def test_what_is_to_go_there_waits_for_room(house: House, archives: Disk, is_begun: bool) -> None:
    house.replica()
    workspace_id, before = await furnished(house)
    if is_begun:
        hold(house, Kind.ARCHIVE, Stage.SURVEY)
        await house.wish(workspace_id, Desired.ARCHIVED)
        await held(house, workspace_id, Step.ARCHIVE, Stage.SURVEY)
    async with archives.full():
        if is_begun:
            house.engine.release_jobs(workspace_id)
        else:
            await house.wish(workspace_id, Desired.ARCHIVED)
        await until_noticed(house)
        assert (await house.row(workspace_id)).op_step is Step.ARCHIVE
        assert await no_attempt_failed(house, workspace_id)
    await house.until_phase(workspace_id, Phase.ARCHIVED)
    assert await no_attempt_failed(house, workspace_id)
    assert await opened(house, workspace_id) == before


async def test_room_that_is_left_to_others_is_no_room(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory may share its disk with the database: archives end before that is full."""
    house.replica()
    workspace_id, before = await furnished(house)
    with monkeypatch.context() as patch:
        patch.setattr(lend, "RESERVE_BYTES", 1 << 60)
        await house.wish(workspace_id, Desired.ARCHIVED)
        await until_noticed(house)
        assert await no_attempt_failed(house, workspace_id)
    await house.until_phase(workspace_id, Phase.ARCHIVED)
    assert await no_attempt_failed(house, workspace_id)
    assert await opened(house, workspace_id) == before


async def test_what_sleeps_there_wakes_and_what_waits_to_go_there_follows_its_owner(
    house: House, archives: Disk
) -> None:
    house.replica()
    sleeping, before = await archived(house)
    wanted_again, unwanted = (await furnished(house))[0], (await furnished(house))[0]
    async with archives.full():
        for each in (wanted_again, unwanted):
            await house.wish(each, Desired.ARCHIVED)
        never_ran = await house.create(Desired.ARCHIVED)
        await until_noticed(house)
        assert await opened(house, sleeping) == before
        for each, wish in ((wanted_again, Desired.RUNNING), (never_ran, Desired.RUNNING), (unwanted, Desired.DELETED)):
            await house.wish(each, wish)
            await house.until_phase(each, Phase(wish.value))
            assert await no_attempt_failed(house, each)


async def test_a_home_that_is_safe_in_the_store_is_let_go_of_when_the_store_was_told(
    house: House, archives: Disk
) -> None:
    """Between the proof and the end of the home the store takes nothing more."""
    house.replica()
    workspace_id, before = await furnished(house)
    hold(house, Kind.VERIFY, "result")
    await house.wish(workspace_id, Desired.ARCHIVED)
    await held(house, workspace_id, Step.VERIFY, "result")
    async with archives.full():
        house.engine.release_jobs(workspace_id)
        await until_noticed(house)
        let_go_of = (await house.row(workspace_id)).current_volume
        assert let_go_of is not None
        assert content(house.engine.home(let_go_of)) == before
    await house.until_phase(workspace_id, Phase.ARCHIVED)
    assert await no_attempt_failed(house, workspace_id)
    assert await opened(house, workspace_id) == before


class TestTheCollector:
    @pytest.fixture
    async def collector(self, database_url: str) -> AsyncIterator[tuple[Collecting, Disk]]:
        with short_folder() as folder, disk(folder / "archives") as made:
            async with collecting(database_url, in_directory(made.folder).open()) as house:
                yield house, made

    async def test_removes_what_nothing_points_to(self, collector: tuple[Collecting, Disk]) -> None:
        house, archives = collector
        given_up = await house.generation(await house.workspace(archive_op_id=uuid4()), row=False)
        house.lead()
        assert (await house.round())["waiting"] == 1
        await house.graces_end()
        async with archives.full():
            await house.workspace(home_volume="a new fact, of which the store is told")
            last = await house.round()
        assert (last["deleted"], last["halted"]) == ({OrphanKind.ARCHIVE: 1}, None)
        assert given_up not in await house.keys()
