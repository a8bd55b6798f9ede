"""What every runtime promises of jobs: on the remembered one, on sandboxed processes and on a real Docker engine."""

import asyncio
import json
import os
import signal
import subprocess
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from codehub.job.marker import parse_totals
from codehub.job.order import DirectoryPlace, Kind
from codehub.runtimes.errors import InUse, NotFound, RuntimeAway, RuntimeFault
from codehub.runtimes.protocols import Job, JobState, Runtime, VolumeSpec
from tests.contracts.job_kit import SECONDS, Errand, SilentStore, done, ended, errand, fill, silent_store
from tests.contracts.runtime_kit import RuntimeKit, docker_kit, memory_kit
from tests.folders import short_folder
from tests.job.sights import sight
from tests.runtimes.docker.job_image import job_image
from tests.runtimes.docker.tool_image import tool_image
from tests.runtimes.local.kit import local_kit

NAME = "home.tar.zst"


@pytest.fixture(scope="session")
def docker_image() -> Iterator[str]:
    with tool_image() as image:
        yield image


@pytest.fixture(params=["memory", "local", "docker"])
async def kit(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RuntimeKit]:
    match request.param:
        case "memory":
            opened = memory_kit()
        case "local":
            opened = local_kit()
        case _:
            image = request.getfixturevalue("docker_image")
            if os.geteuid() != 0:
                pytest.skip("only root sees into the engine's volumes")
            opened = docker_kit(image, tmp_path, await job_image())
    async with opened as kit:
        yield kit


@pytest.fixture
async def runtime(kit: RuntimeKit) -> Runtime:
    return kit.open(kit.installation)


@pytest.fixture
async def home(kit: RuntimeKit, runtime: Runtime) -> VolumeSpec:
    """One with a little of everything in it."""
    home = kit.home()
    await runtime.volumes.create(home)
    fill(await kit.folder(home.name))
    return home


@pytest.fixture
async def store(kit: RuntimeKit) -> AsyncIterator[SilentStore]:
    """Kept until the jobs are gone that call it."""
    with short_folder() as folder:
        async with silent_store(folder) as store:
            yield store
            for job in await kit.open(kit.installation).jobs.list():
                await kit.open(kit.installation).jobs.remove(job.name)


async def lines(runtime: Runtime, name: str) -> list[bytes]:
    return [line async for line in runtime.jobs.follow(name)]


async def test_a_home_goes_into_its_archive_and_comes_back(
    kit: RuntimeKit, runtime: Runtime, home: VolumeSpec, tmp_path: Path
) -> None:
    before = sight(await kit.folder(home.name))
    assert await runtime.jobs.lack() is None
    archive = errand(tmp_path)
    archived = await done(runtime, archive.spec(Kind.ARCHIVE, home))
    assert (archived.state, archived.exit_code) == (JobState.ENDED, 0)
    said = json.loads((await lines(runtime, archived.name))[-1])["result"]
    assert parse_totals(said).entries == len(before)
    assert (await done(runtime, archive.spec(Kind.VERIFY, home))).exit_code == 0
    again = kit.home(home.workspace_id)
    await runtime.volumes.create(again)
    assert (await done(runtime, archive.spec(Kind.RESTORE, again))).exit_code == 0
    assert sight(await kit.folder(again.name)) == before
    assert sight(await kit.folder(home.name)) == before


async def test_an_archive_can_be_restored_into_another_workspace(
    kit: RuntimeKit, runtime: Runtime, home: VolumeSpec, tmp_path: Path
) -> None:
    archive = errand(tmp_path)
    await done(runtime, archive.spec(Kind.ARCHIVE, home))
    fork = kit.home()
    await runtime.volumes.create(fork)
    spec = archive.spec(Kind.RESTORE, fork)
    spec = replace(spec, order=replace(spec.order, workspace_id=str(home.workspace_id)))
    assert (await done(runtime, spec)).exit_code == 0
    restored = await kit.folder(fork.name)
    assert (restored / "folder/below/file").read_bytes() == (
        (await kit.folder(home.name)) / "folder/below/file"
    ).read_bytes()
    assert {path.lstat().st_uid for path in restored.rglob("*")} == {restored.stat().st_uid}


async def test_a_job_is_listed_with_all_that_is_known_of_it(
    runtime: Runtime, home: VolumeSpec, store: SilentStore
) -> None:
    spec = store.errand.spec(Kind.VERIFY, home)
    await runtime.jobs.run(spec)
    job = Job(spec.name, home.workspace_id, spec.op_id, spec.epoch, home.name, JobState.RUNNING)
    assert await runtime.jobs.list() == await runtime.jobs.list(home.workspace_id) == (job,)
    assert await runtime.jobs.status(spec.name) == job
    assert await runtime.jobs.list(uuid.uuid4()) == ()


async def test_what_is_begun_twice_is_one_job(
    kit: RuntimeKit, runtime: Runtime, home: VolumeSpec, tmp_path: Path
) -> None:
    spec = errand(tmp_path).spec(Kind.ARCHIVE, home)
    other = kit.open(kit.installation)
    await asyncio.gather(runtime.jobs.run(spec), other.jobs.run(spec))
    assert (await ended(runtime, spec.name)).exit_code == 0
    printed = await lines(runtime, spec.name)
    await runtime.jobs.run(spec)
    assert await lines(runtime, spec.name) == printed
    assert [json.loads(line).get("stage") for line in printed].count("survey") == 1
    assert len(await runtime.jobs.list()) == 1


async def test_whoever_comes_later_finds_it_by_its_name(
    kit: RuntimeKit, runtime: Runtime, home: VolumeSpec, store: SilentStore
) -> None:
    spec = store.errand.spec(Kind.VERIFY, home)
    await runtime.jobs.run(spec)
    await store.is_called()
    await runtime.close()
    successor = kit.open(kit.installation)
    await successor.jobs.run(spec)
    assert (await successor.jobs.status(spec.name)).state is JobState.RUNNING
    assert len(store.calls) == 1


async def test_every_line_is_told_from_the_first_also_after_its_end(
    kit: RuntimeKit, runtime: Runtime, home: VolumeSpec, tmp_path: Path
) -> None:
    spec = errand(tmp_path).spec(Kind.ARCHIVE, home)
    await runtime.jobs.run(spec)
    async with asyncio.timeout(SECONDS):
        told = await lines(runtime, spec.name)
    assert (await runtime.jobs.status(spec.name)).exit_code == 0
    assert await lines(kit.open(kit.installation), spec.name) == told
    stages = [json.loads(line).get("stage") for line in told]
    assert stages[0] == "survey"
    assert "result" in json.loads(told[-1])


async def test_a_name_of_another_operation_is_refused(runtime: Runtime, home: VolumeSpec, store: SilentStore) -> None:
    spec = store.errand.spec(Kind.VERIFY, home)
    await runtime.jobs.run(spec)
    with pytest.raises(RuntimeFault, match="another operation"):
        await runtime.jobs.run(replace(spec, op_id=uuid.uuid4()))
    assert [job.op_id for job in await runtime.jobs.list()] == [spec.op_id]


async def test_without_its_home_nothing_is_begun_and_no_home_is_made(
    kit: RuntimeKit, runtime: Runtime, tmp_path: Path
) -> None:
    with pytest.raises(NotFound):
        await runtime.jobs.run(errand(tmp_path).spec(Kind.ARCHIVE, kit.home()))
    assert await runtime.jobs.list() == ()
    assert await runtime.volumes.list() == ()


async def test_a_corrupt_archive_and_a_missing_one_are_told_apart(
    kit: RuntimeKit, runtime: Runtime, home: VolumeSpec, tmp_path: Path
) -> None:
    archive = errand(tmp_path)
    await done(runtime, archive.spec(Kind.ARCHIVE, home))
    assert isinstance(archive.place, DirectoryPlace)
    file = archive.place.folder / NAME
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    again = kit.home(home.workspace_id)
    await runtime.volumes.create(again)
    assert (await done(runtime, archive.spec(Kind.VERIFY, home))).exit_code == 65
    assert (await done(runtime, archive.spec(Kind.RESTORE, again))).exit_code == 65
    other = kit.home(home.workspace_id)
    await runtime.volumes.create(other)
    missing = await done(runtime, errand(tmp_path).spec(Kind.RESTORE, other))
    assert missing.exit_code == 66
    assert json.loads((await lines(runtime, missing.name))[-1])["fault"] == "missing"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("only root makes a small disk")
    disk = tmp_path / "small"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], check=True)
    yield disk
    subprocess.run(["umount", disk], check=True)


async def test_a_store_without_room_is_told(runtime: Runtime, home: VolumeSpec, small_disk: Path) -> None:
    spec = Errand(DirectoryPlace(small_disk)).spec(Kind.ARCHIVE, home)
    assert (await done(runtime, spec)).exit_code == 28
    await runtime.jobs.remove(spec.name)
    assert sight(small_disk).keys() == {b""}


async def test_a_store_that_goes_away_is_a_passing_fault(
    runtime: Runtime, home: VolumeSpec, store: SilentStore
) -> None:
    store.hang_up()
    assert (await done(runtime, store.errand.spec(Kind.VERIFY, home))).exit_code == 75


async def test_a_job_that_is_killed_says_so(
    kit: RuntimeKit, runtime: Runtime, home: VolumeSpec, store: SilentStore
) -> None:
    spec = store.errand.spec(Kind.VERIFY, home)
    await runtime.jobs.run(spec)
    await store.is_called()
    os.kill(await kit.job_process(spec.name), signal.SIGKILL)
    assert (await ended(runtime, spec.name)).exit_code == 137
    await store.is_left_alone()


async def test_a_home_is_held_by_its_jobs_until_they_are_removed(
    runtime: Runtime, home: VolumeSpec, store: SilentStore, tmp_path: Path
) -> None:
    running, over = store.errand.spec(Kind.VERIFY, home), errand(tmp_path).spec(Kind.ARCHIVE, home)
    await done(runtime, over)
    with pytest.raises(InUse):
        await runtime.volumes.delete(home.name)
    await runtime.jobs.remove(over.name)
    await runtime.jobs.run(running)
    with pytest.raises(InUse):
        await runtime.volumes.delete(home.name)
    await runtime.jobs.remove(running.name)
    await runtime.volumes.delete(home.name)
    assert await runtime.volumes.list() == ()


async def test_removing_ends_it_whatever_it_does(runtime: Runtime, home: VolumeSpec, store: SilentStore) -> None:
    spec = store.errand.spec(Kind.RESTORE, home)
    await runtime.jobs.run(spec)
    await store.is_called()
    following = asyncio.create_task(lines(runtime, spec.name))
    await asyncio.gather(*(runtime.jobs.remove(spec.name) for _ in range(2)))
    await runtime.jobs.remove(spec.name)
    assert await runtime.jobs.list() == ()
    await store.is_left_alone()
    async with asyncio.timeout(SECONDS):
        with suppress(NotFound):  # where it was removed before it could be followed
            await following
    with pytest.raises(NotFound):
        await runtime.jobs.status(spec.name)
    with pytest.raises(NotFound):
        await lines(runtime, spec.name)


async def test_after_its_removal_the_name_is_free_for_the_next_attempt(
    runtime: Runtime, home: VolumeSpec, store: SilentStore, tmp_path: Path
) -> None:
    spec = store.errand.spec(Kind.ARCHIVE, home)
    await runtime.jobs.run(spec)
    await store.is_called()
    await runtime.jobs.remove(spec.name)
    assert (await done(runtime, errand(tmp_path).spec(Kind.ARCHIVE, home))).exit_code == 0


async def test_jobs_are_no_instances_and_instances_no_jobs(
    kit: RuntimeKit, runtime: Runtime, home: VolumeSpec, store: SilentStore
) -> None:
    instance = await kit.running(runtime, home)
    await runtime.jobs.run(store.errand.spec(Kind.VERIFY, home))
    assert [each.id for each in await runtime.instances.list()] == [instance.id]
    assert [each.name for each in await runtime.jobs.list()] == [f"{home.name}-verify"]
    with pytest.raises(NotFound):
        await runtime.jobs.status(instance.name)
    await runtime.jobs.remove(instance.name)
    assert len(await runtime.instances.list()) == 1


async def test_another_installation_sees_and_touches_none_of_them(
    kit: RuntimeKit, runtime: Runtime, home: VolumeSpec, store: SilentStore
) -> None:
    spec = store.errand.spec(Kind.VERIFY, home)
    await runtime.jobs.run(spec)
    stranger = kit.open(f"{kit.installation}-other")
    assert await stranger.jobs.list() == ()
    await stranger.jobs.remove(spec.name)
    with pytest.raises(NotFound):
        await stranger.jobs.status(spec.name)
    with pytest.raises(NotFound):
        await lines(stranger, spec.name)
    with pytest.raises(RuntimeFault):
        await stranger.jobs.run(spec)
    assert (await runtime.jobs.status(spec.name)).state is JobState.RUNNING


async def test_what_happens_to_jobs_is_not_done_behind_a_closed_fence(
    kit: RuntimeKit, runtime: Runtime, home: VolumeSpec, store: SilentStore
) -> None:
    class Deposed(Exception):
        pass

    def closed() -> None:
        raise Deposed

    spec = store.errand.spec(Kind.VERIFY, home)
    deposed = kit.open(kit.installation, closed)
    with pytest.raises(Deposed):
        await deposed.jobs.run(spec)
    assert await runtime.jobs.list() == ()
    await runtime.jobs.run(spec)
    with pytest.raises(Deposed):
        await deposed.jobs.remove(spec.name)
    assert (await deposed.jobs.status(spec.name)).state is JobState.RUNNING


async def test_an_engine_that_is_away_knows_nothing_of_jobs(kit: RuntimeKit, tmp_path: Path) -> None:
    away = kit.open_away()
    spec = errand(tmp_path).spec(Kind.ARCHIVE, kit.home())
    for call in (
        away.jobs.list(),
        away.jobs.run(spec),
        away.jobs.status(spec.name),
        away.jobs.remove(spec.name),
        lines(away, spec.name),
    ):
        with pytest.raises(RuntimeAway):
            await call
