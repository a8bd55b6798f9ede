"""What the collector takes, keeps, notes and forgets, on a directory and on an S3 server."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from codehub import clock
from codehub.archives.object_store import ObjectStore
from codehub.decide.orphans import OrphanKind
from codehub.job.order import Kind
from codehub.model.states import Operation, Phase, Step
from codehub.model.workspace import RequestKind, archive_key
from codehub.runtimes.errors import RuntimeAway
from codehub.runtimes.memory_engine import Call, Fault
from codehub.runtimes.protocols import VolumeSpec
from codehub.stack.seaweedfs import SeaweedFS
from codehub.store import gc_rounds
from tests.contracts.job_kit import done, errand
from tests.contracts.object_store_places import in_bucket, in_directory
from tests.coordinators.collecting import CONTENT, INSTALLATION, Collecting, collecting

ONE_ARCHIVE = {OrphanKind.ARCHIVE: 1}


@pytest.fixture(params=["directory", "s3"])
def s3(request: pytest.FixtureRequest) -> SeaweedFS | None:
    """The S3 server where the test asks for one: found here, outside of the test's loop."""
    server: SeaweedFS | None = request.getfixturevalue("s3_server") if request.param == "s3" else None
    return server


@pytest.fixture
async def store(s3: SeaweedFS | None, tmp_path: Path) -> ObjectStore:
    return (in_directory(tmp_path) if s3 is None else await in_bucket(s3)).open()


@pytest.fixture
async def house(database_url: str, store: ObjectStore) -> AsyncIterator[Collecting]:
    async with collecting(database_url, store) as made:
        yield made


async def orphan(house: Collecting) -> str:
    """An archive that was given up: a newer operation has taken its place."""
    return await house.generation(await house.workspace(archive_op_id=uuid4()), row=False)


async def test_an_archive_that_nothing_points_to_goes_after_its_grace(house: Collecting) -> None:
    key = await orphan(house)
    house.lead()
    first = await house.round()
    assert (first["deleted"], first["waiting"]) == ({}, 1)
    await house.round()
    assert await house.keys() == {key}
    await house.graces_end()
    last = await house.round()
    assert (last["deleted"], last["waiting"], last["seen"], last["halted"]) == (ONE_ARCHIVE, 0, 1, None)
    assert {each for each in await house.objects() if key in each} == set()
    assert await house.count("orphans") == 0


async def test_what_is_left_of_a_removal_that_was_cut_short_goes_too(house: Collecting) -> None:
    without_marker = await house.generation(await house.workspace(), row=False, marker=False)
    marker = archive_key(await house.workspace(), uuid4()) + ".meta"
    await house.store.put(marker, b"{}")
    house.lead()
    assert (await house.collected())["deleted"] == {OrphanKind.ARCHIVE: 2}
    assert not {without_marker, marker} & await house.objects()


async def test_objects_of_other_names_are_nobodys_business(house: Collecting) -> None:
    others = {"notes.txt", f"{uuid4()}/home.tar.zst", f"{uuid4()}/{uuid4()}/other.tar.zst", "probe-1234"}
    for each in others:
        await house.store.put(each, CONTENT)
    house.lead()
    assert (await house.collected())["seen"] == 0
    assert others <= await house.objects()


async def test_the_newest_generations_stay_and_so_does_one_that_its_owner_keeps(house: Collecting) -> None:
    workspace_id = await house.workspace()
    keys = [await house.generation(workspace_id, kept=number == 0) for number in range(6)]
    house.lead()
    told = await house.collected()
    assert told["deleted"] == {OrphanKind.ARCHIVE: 2}
    assert told["kept"] == {"its owner keeps it": 1, "it is among the newest 3": 3}
    assert await house.keys() == {keys[0], *keys[3:]}
    assert await house.count("archives") == 4


async def test_the_current_archive_and_one_that_a_fork_stands_on_stay(house: Collecting) -> None:
    source = await house.workspace(Phase.DELETED, deleted_at=clock.now() - timedelta(days=8))
    current, asked_for, gone = [await house.generation(source) for _ in range(3)]
    await house.workspace(Phase.ARCHIVED, archive_key=current)
    await house.request(await house.workspace(Phase.PENDING), RequestKind.FORK, asked_for)
    house.lead()
    assert (await house.collected())["kept"] == {"it is the current archive": 1, "it is asked for": 1}
    assert await house.keys() == {current, asked_for}
    assert gone not in await house.objects()


async def being_archived(house: Collecting) -> str:
    """The key that a workspace is on its way to."""
    op_id = uuid4()
    workspace_id = await house.workspace(
        operation=Operation.ARCHIVING,
        op_step=Step.ARCHIVE,
        op_id=op_id,
        op_clock_at=clock.now(),
        archive_op_id=op_id,
        home_volume="home",
    )
    return archive_key(workspace_id, op_id)


async def test_the_archive_that_is_being_made_stays(house: Collecting) -> None:
    key = await being_archived(house)
    await house.store.put(key, CONTENT)
    house.lead()
    assert (await house.collected())["kept"] == {"it is being made": 1}
    assert key in await house.objects()


async def test_archives_of_a_deleted_workspace_go_with_the_window_and_its_row_follows(house: Collecting) -> None:
    workspace_id = await house.workspace(Phase.DELETED)
    key = await house.generation(workspace_id)
    house.lead()
    assert (await house.collected())["kept"] == {"it is among the newest 3": 1}
    await house.execute("UPDATE workspaces SET deleted_at = deleted_at - interval '31 days'")
    assert (await house.collected())["deleted"] == ONE_ARCHIVE
    assert key not in await house.objects()
    assert await house.count("workspaces") == 1
    assert (await house.round())["pruned"] == {"workspaces": 1}
    assert await house.count("workspaces") == 0


async def test_a_deleted_row_stays_while_anything_of_it_is_there(house: Collecting) -> None:
    longer_ago = clock.now() - timedelta(days=31)
    await house.generation(await house.workspace(Phase.DELETED, deleted_at=longer_ago), kept=True)
    being_deleted = await house.workspace(Phase.DELETING, deleted_at=longer_ago, desired_state="DELETED")
    await house.volume(being_deleted)
    lately = await house.workspace(Phase.DELETED, deleted_at=longer_ago + timedelta(days=2))
    house.lead()
    assert (await house.round())["pruned"] == {}
    assert lately is not None
    assert await house.count("workspaces") == 3


class TestUploads:
    async def test_one_that_was_left_behind_is_aborted(self, house: Collecting) -> None:
        key = archive_key(await house.workspace(), uuid4())
        async with house.store.upload(key) as upload:
            await upload.write(bytes(20 * 1024 * 1024))
            house.lead()
            assert (await house.collected())["deleted"] == {OrphanKind.UPLOAD: 1}
            assert [each async for each in house.store.unfinished()] == []

    async def test_one_of_an_operation_under_way_is_left_alone(self, house: Collecting) -> None:
        key = await being_archived(house)
        async with house.store.upload(key) as upload:
            await upload.write(bytes(20 * 1024 * 1024))
            house.lead()
            assert (await house.collected())["kept"] == {"an operation is under way": 1}
            assert len([each async for each in house.store.unfinished()]) == 1


class TestTheCap:
    async def test_a_round_that_would_take_too_much_takes_nothing_until_somebody_confirms(
        self, house: Collecting
    ) -> None:
        keys = {await orphan(house) for _ in range(4)}
        replica = house.lead()
        halted = await house.collected()
        assert halted["halted"] == "4 of 4 would be deleted, more than the 3 that one round may take"
        assert await house.keys() == keys
        assert replica.supervisor.reports["gc"].alarm == halted["halted"]
        assert house.metrics.registry.get_sample_value("codehub_gc_waits_for_administrator") == 1
        async with house.pool.begin() as connection:
            assert await gc_rounds.confirm(connection, "ann") is not None
        assert (await house.round())["deleted"] == {OrphanKind.ARCHIVE: 4}
        assert await house.keys() == set()
        assert replica.supervisor.reports["gc"].alarm is None
        assert house.metrics.registry.get_sample_value("codehub_gc_waits_for_administrator") == 0

    async def test_what_was_confirmed_holds_for_one_round(self, house: Collecting) -> None:
        for _ in range(4):
            await orphan(house)
        house.lead()
        await house.collected()
        async with house.pool.begin() as connection:
            await gc_rounds.confirm(connection, "ann")
            assert await gc_rounds.confirm(connection, "ann") is None
        await house.round()
        for _ in range(4):
            await orphan(house)
        assert (await house.collected())["halted"] is not None
        assert len(await house.keys()) == 4

    async def test_more_than_was_confirmed_is_not_taken(self, house: Collecting) -> None:
        for _ in range(5):
            await orphan(house)
        house.lead()
        await house.round()
        await house.graces_end()
        await house.execute("DELETE FROM orphans WHERE key = (SELECT max(key) FROM orphans)")
        assert (await house.round())["due"] == 4
        async with house.pool.begin() as connection:
            await gc_rounds.confirm(connection, "ann")
        await house.graces_end()
        told = await house.round()
        assert told["halted"] == "5 of 5 would be deleted, more than the 4 that one round may take"
        assert len(await house.keys()) == 5


class TestListingsThatFail:
    @pytest.mark.parametrize("call", [Call.LIST_VOLUMES, Call.LIST_INSTANCES, Call.LIST_JOBS, Call.ENGINE])
    async def test_nothing_changes_and_the_round_is_made_again(self, house: Collecting, call: Call) -> None:
        key = await orphan(house)
        house.lead()
        await house.round()
        await house.graces_end()
        before = await house.count("orphans")
        house.engine.faults[call] = [Fault(error=RuntimeAway("not now"))]
        asked, why = await house.failing_round()
        assert why == "not now"
        assert await house.keys() == {key}
        assert await house.count("orphans") == before
        del house.engine.faults[call]
        assert (await house.ended(asked))["deleted"] == ONE_ARCHIVE

    async def test_another_engine_than_that_of_the_homes_says_nothing(self, house: Collecting) -> None:
        await house.execute("INSERT INTO observer_state VALUES ('runtime', now(), 'another engine')")
        house.lead()
        _, why = await house.failing_round()
        assert "the homes were made on another engine" in why


class TestVolumesContainersAndJobs:
    async def test_a_superseded_volume_goes_where_the_home_is_there(self, house: Collecting) -> None:
        workspace_id = await house.workspace()
        home, old = await house.volume(workspace_id), await house.volume(workspace_id)
        await house.execute("UPDATE workspaces SET home_volume = :home", home=home)
        await house.seen(workspace_id, volume=home)
        house.lead()
        told = await house.collected()
        assert (told["deleted"], told["kept"]) == ({OrphanKind.VOLUME: 1}, {"it is the home": 1})
        assert await house.volumes() == {home}
        assert old != home

    async def test_one_that_was_let_go_of_goes_where_the_archive_is_whole(self, house: Collecting) -> None:
        workspace_id = await house.workspace(Phase.ARCHIVED)
        key = await house.generation(workspace_id)
        await house.execute("UPDATE workspaces SET archive_key = :key", key=key)
        await house.seen(workspace_id, archive=key)
        await house.volume(workspace_id)
        house.lead()
        assert (await house.collected())["deleted"] == {OrphanKind.VOLUME: 1}
        assert await house.volumes() == set()

    @pytest.mark.parametrize("missing", ["archive", "marker", "row's word"])
    async def test_a_volume_with_the_only_copy_is_never_taken(self, house: Collecting, missing: str) -> None:
        workspace_id = await house.workspace(Phase.ARCHIVED)
        key = await house.generation(workspace_id)
        await house.execute("UPDATE workspaces SET archive_key = :key", key=key)
        if missing != "row's word":
            await house.seen(workspace_id, archive=key)  # once, and by now it is gone
            await house.store.delete(key if missing == "archive" else f"{key}.meta")
        volume = await house.volume(workspace_id)
        house.lead()
        assert (await house.collected())["kept"]["it may hold the only copy of a home"] == 1
        assert await house.volumes() == {volume}

    async def test_a_volume_that_nobody_knows_is_kept(self, house: Collecting) -> None:
        volume = await house.volume(uuid4())
        house.lead()
        assert (await house.collected())["kept"] == {"nobody knows whose home it is": 1}
        assert await house.volumes() == {volume}

    async def test_a_container_without_a_row_goes_and_the_volume_beneath_it_stays(self, house: Collecting) -> None:
        await house.container(uuid4())
        theirs = await house.container(await house.workspace())
        house.lead()
        assert (await house.collected())["deleted"] == {OrphanKind.CONTAINER: 1}
        assert await house.containers() == {theirs}
        assert len(await house.volumes()) == 2


async def test_a_job_that_no_operation_needs_is_removed_and_one_under_way_is_not(
    house: Collecting, tmp_path_factory: pytest.TempPathFactory
) -> None:
    runtime = house.runtime()
    idle, busy = await house.workspace(), await house.workspace()
    names = []
    for workspace_id in (idle, busy):
        home = VolumeSpec(await house.volume(workspace_id), workspace_id, uuid4(), 1)
        spec = errand(tmp_path_factory.mktemp("archives")).spec(Kind.ARCHIVE, home)
        names.append((await done(runtime, spec)).name)
    await house.execute(
        "UPDATE workspaces SET operation = 'STOPPING', op_step = 'stop', op_id = id, op_clock_at = now()"
        " WHERE id = :id",
        id=busy,
    )
    house.lead()
    told = await house.collected()
    assert told["deleted"] == {OrphanKind.JOB: 1}
    assert [each.name for each in await runtime.jobs.list()] == names[1:]


async def test_archives_that_may_belong_to_another_installation_stay(house: Collecting) -> None:
    """Two installations on one store, or a new database on an old store: unknown archives are not garbage."""
    key = await house.generation(uuid4(), row=False)
    await house.store.put("installation/theirs/counter", b"{}")
    house.lead()
    assert list((await house.collected())["kept"]) == [
        "another installation keeps archives in this store, and it may be one of those"
    ]
    assert await house.keys() == {key}
    await house.store.delete("installation/theirs/counter")
    assert (await house.collected())["deleted"] == ONE_ARCHIVE
    assert f"installation/{INSTALLATION}/counter" in await house.objects()
