"""A home goes to sleep in the archive store and comes back as it was, through real coordinators and real jobs."""

from sqlalchemy import text

from codehub.job.order import Kind, Proof
from codehub.job.progress import Stage
from codehub.model.states import Desired, Phase, Step
from codehub.model.workspace import Request, RequestKind
from codehub.store.wishes import place_request
from tests.coordinators.homes import (
    archived,
    content,
    furnish,
    furnished,
    held,
    hold,
    home_of,
    keys_of,
    opened,
    settled,
)
from tests.coordinators.house import House

ROWS = text("SELECT key, size, checksum, entries FROM archives WHERE workspace_id = :id ORDER BY generation")


async def test_a_home_is_archived_and_comes_back_as_it_was(house: House) -> None:
    house.replica()
    workspace_id = await house.create()
    before = furnish(home_of(house, await house.until_phase(workspace_id, Phase.RUNNING)))
    await house.wish(workspace_id, Desired.ARCHIVED)
    row = await house.until_phase(workspace_id, Phase.ARCHIVED)
    assert (row.home_volume, row.op_volume) == (None, None)
    assert not house.engine.homes
    assert await keys_of(house.store, workspace_id) == [row.archive_key, f"{row.archive_key}.meta"]
    await house.wish(workspace_id, Desired.RUNNING)
    running = await house.until_phase(workspace_id, Phase.RUNNING)
    assert content(home_of(house, running)) == before
    assert running.restore_marker == row.archive_key
    assert not house.engine.disk.jobs


async def test_an_archive_can_be_proven_by_unpacking_it_against_the_home(house: House) -> None:
    house.replica(verify="extract", zstd_level=19)
    workspace_id, before = await furnished(house)
    hold(house, Kind.VERIFY, Stage.VERIFY)
    await house.wish(workspace_id, Desired.ARCHIVED)
    await held(house, workspace_id, Step.VERIFY, Stage.VERIFY)
    [job] = house.engine.disk.jobs.values()
    assert (job.spec.order.proof, job.spec.order.level) == (Proof.EXTRACT, 19)
    house.engine.release_jobs(workspace_id)
    await house.until_phase(workspace_id, Phase.ARCHIVED)
    assert await opened(house, workspace_id) == before


async def test_a_fork_opens_with_what_its_source_had_and_lives_its_own_life(house: House) -> None:
    replica = house.replica()
    source, before = await archived(house)
    key = (await house.row(source)).archive_key
    await replica.stop()
    fork = await house.create(Desired.STANDBY)
    async with house.pool.begin() as connection:
        await place_request(connection, await house.row(fork), Request(RequestKind.FORK, fork, "ann", key))
    house.replica()
    row = await settled(house, fork)
    assert content(home_of(house, row)) == before
    await house.wish(fork, Desired.ARCHIVED)
    row = await house.until_phase(fork, Phase.ARCHIVED)
    assert row.archive_key != key
    assert (await house.row(source)).archive_key == key
    assert await opened(house, source) == before


async def test_an_archive_is_written_down_as_it_was_found_when_it_was_read_back(house: House) -> None:
    house.replica()
    workspace_id, _ = await archived(house)
    row = await house.row(workspace_id)
    async with house.pool.connect() as connection:
        [found] = await connection.execute(ROWS, {"id": workspace_id})
    assert row.sent is not None
    assert found == (row.archive_key, row.sent["size"], f"sha256:{row.sent['sha256']}", row.sent["entries"])
    info = await house.store.head(found.key)
    assert info is not None
    assert info.size == found.size


async def test_every_sleep_is_a_generation_and_any_can_be_brought_back(house: House) -> None:
    house.replica()
    workspace_id, first = await archived(house)
    older = (await house.row(workspace_id)).archive_key
    await opened(house, workspace_id)
    (home_of(house, await house.row(workspace_id)) / "project" / "notes.txt").write_text("another thought\n")
    await house.wish(workspace_id, Desired.ARCHIVED)
    await house.until_phase(workspace_id, Phase.ARCHIVED)
    assert await opened(house, workspace_id) != first
    row = await house.row(workspace_id)
    async with house.pool.begin() as connection:
        await place_request(connection, row, Request(RequestKind.RESTORE, workspace_id, "ann", older))
    await settled(house, workspace_id)
    assert content(home_of(house, await house.row(workspace_id))) == first
    async with house.pool.connect() as connection:
        keys = [found.key for found in await connection.execute(ROWS, {"id": workspace_id})]
    assert len(keys) == 3, "what was there when an older one was asked for is a generation of its own"


async def test_a_workspace_that_never_ran_is_archived_and_opens_empty(house: House) -> None:
    house.replica()
    workspace_id = await house.create(Desired.ARCHIVED)
    row = await house.until_phase(workspace_id, Phase.ARCHIVED)
    assert not house.engine.homes
    await house.wish(workspace_id, Desired.RUNNING)
    running = await house.until_phase(workspace_id, Phase.RUNNING)
    assert content(home_of(house, running)) == {}
    assert running.restore_marker == row.archive_key


async def test_a_deletion_takes_the_home_and_leaves_the_archives_to_the_collector(house: House) -> None:
    house.replica()
    workspace_id, _ = await archived(house)
    await opened(house, workspace_id)
    await house.wish(workspace_id, Desired.DELETED)
    await house.until_phase(workspace_id, Phase.DELETED)
    assert not house.engine.homes
    assert len(await keys_of(house.store, workspace_id)) == 2


async def test_one_home_that_is_packed_keeps_no_other_workspace_from_starting(house: House) -> None:
    house.replica(max_concurrent_jobs=1, max_concurrent_operations=1)
    workspace_id, before = await furnished(house)
    hold(house, Kind.ARCHIVE, Stage.ARCHIVE)
    await house.wish(workspace_id, Desired.ARCHIVED)
    await held(house, workspace_id, Step.ARCHIVE, Stage.ARCHIVE)
    other = await house.create()
    await house.until_phase(other, Phase.RUNNING)
    assert (await house.row(workspace_id)).op_step is Step.ARCHIVE
    house.engine.release_jobs(workspace_id)
    await house.until_phase(workspace_id, Phase.ARCHIVED)
    assert await opened(house, workspace_id) == before
