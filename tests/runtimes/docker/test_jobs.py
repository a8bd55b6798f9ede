"""A job on the real engine: what it sees, what it may do, who its files belong to, and orders that did not come."""

import os
import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from codehub.job.order import DirectoryPlace, Kind, Proof
from codehub.runtimes.docker import containers, job_container
from codehub.runtimes.docker.commands import run
from codehub.runtimes.docker.runtime import DockerRuntime
from codehub.runtimes.errors import NoJobs, RuntimeFault
from codehub.runtimes.protocols import Job, JobState, VolumeSpec
from tests.contracts.job_kit import Errand, SilentStore, done, ended, errand, fill, silent_store
from tests.folders import short_folder
from tests.job.sights import sight
from tests.runtimes import jobs_from_outside as outside
from tests.runtimes.docker.inside import House, root_only
from tests.runtimes.docker.job_image import job_image
from tests.runtimes.docker.tidy import clear
from tests.runtimes.docker.tool_image import HOST

pytestmark = root_only

MIB = 1024**2
SIZE = 24 * MIB
POWERS = {"CHOWN": 0, "DAC_OVERRIDE": 1, "DAC_READ_SEARCH": 2, "FOWNER": 3, "FSETID": 4}
"""Their bits in the kernel's numbering."""


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    installation = f"test-{uuid.uuid4().hex[:12]}"
    runtime = DockerRuntime(installation, HOST, homes_folder=tmp_path / "sized", job_image=await job_image())
    try:
        yield House(runtime, "", installation)
    finally:
        await clear(installation)
        for point in (tmp_path / "sized").glob("*/*"):
            if point.is_mount():
                await run("umount", str(point))
        await runtime.close()


@pytest.fixture
async def store(house: House) -> AsyncIterator[SilentStore]:
    with short_folder() as folder:
        async with silent_store(folder) as store:
            yield store
            for job in await house.runtime.jobs.list():
                await house.runtime.jobs.remove(job.name)


async def made(house: House, size_bytes: int | None = None) -> tuple[VolumeSpec, Path]:
    home = house.home(size_bytes)
    await house.runtime.volumes.create(home)
    return home, await house.runtime.volumes.require(home.name)


async def waiting(house: House, store: SilentStore, kind: Kind) -> tuple[Job, int]:
    """A job that has begun and waits for its store, and its process."""
    home, _ = await made(house)
    spec = store.errand.spec(kind, home)
    await house.runtime.jobs.run(spec)
    await store.is_called()
    seen = await house.runtime._api.read(f"containers/{spec.name}/json")
    return await house.runtime.jobs.status(spec.name), seen["State"]["Pid"]


@pytest.mark.parametrize("kind", Kind)
async def test_it_sees_one_home_and_the_way_to_one_archive_and_writes_only_what_it_must(
    house: House, store: SilentStore, kind: Kind
) -> None:
    await made(house)
    _, pid = await waiting(house, store, kind)
    assert outside.mounts(pid) == {
        "/": False,
        "/job/home": kind is Kind.RESTORE,
        "/job/relay": False,
        "/etc/hostname": False,
        "/etc/hosts": False,
        "/etc/resolv.conf": False,
    }


@pytest.mark.parametrize("kind", Kind)
async def test_it_has_few_powers_and_can_get_no_more(house: House, store: SilentStore, kind: Kind) -> None:
    _, pid = await waiting(house, store, kind)
    powers = sum(1 << POWERS[name] for name in job_container.CAPABILITIES[kind])
    assert {int(outside.told(pid, field), 16) for field in ("CapPrm", "CapEff", "CapBnd")} == {powers}
    assert outside.told(pid, "NoNewPrivs") == "1"
    assert outside.told(pid, "Seccomp") == "2"


async def test_it_has_no_network_but_the_socket(house: House, store: SilentStore) -> None:
    _, pid = await waiting(house, store, Kind.VERIFY)
    assert outside.interfaces(pid) == {"lo": "0"}


async def test_its_order_is_nowhere_to_be_read(house: House, store: SilentStore) -> None:
    job, _ = await waiting(house, store, Kind.VERIFY)
    seen = await house.runtime._api.read(f"containers/{job.name}/json")
    assert store.secret not in str(seen)
    assert outside.shown_anywhere(store.secret) == []
    assert outside.written_below(Path(seen["LogPath"]).parent, store.secret) == []


async def test_it_is_limited_and_gives_way_to_others(house: House, store: SilentStore) -> None:
    job, _ = await waiting(house, store, Kind.ARCHIVE)
    limits = (await house.runtime._api.read(f"containers/{job.name}/json"))["HostConfig"]
    assert limits["Memory"] == limits["MemorySwap"] == 1024 * MIB
    assert (limits["PidsLimit"], limits["CpuShares"]) == (64, 16)


def owned_by_many(home: Path) -> None:
    fill(home)
    (home / "folder").chmod(0o755)
    for owner in (0, 4711):
        (home / f"of-{owner}").mkdir()
        (home / f"of-{owner}/file").write_text("x")
        for path in (home / f"of-{owner}/file", home / f"of-{owner}"):
            os.chown(path, owner, owner)
    (home / "of-4711/file").chmod(0o6755)
    (home / "of-4711").chmod(0o700)


async def test_owners_and_modes_come_back(house: House, tmp_path: Path) -> None:
    assert await comes_back(house, tmp_path)


@pytest.mark.parametrize("power", job_container.CAPABILITIES[Kind.RESTORE])
async def test_each_power_of_a_restore_is_needed(
    house: House, tmp_path: Path, power: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = tuple(each for each in job_container.CAPABILITIES[Kind.RESTORE] if each != power)
    monkeypatch.setitem(job_container.CAPABILITIES, Kind.RESTORE, others)
    assert not await comes_back(house, tmp_path)


@pytest.mark.parametrize("kind", [Kind.ARCHIVE, Kind.VERIFY])
async def test_the_power_of_those_that_read_is_needed(
    house: House, tmp_path: Path, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(job_container.CAPABILITIES, kind, ())
    assert not await comes_back(house, tmp_path)


async def comes_back(house: House, folder: Path) -> bool:
    """Whether a home of several owners is archived, proven and restored as it was."""
    home, there = await made(house)
    owned_by_many(there)
    again, restored = await made(house)
    archive = errand(folder)
    for spec in (
        archive.spec(Kind.ARCHIVE, home),
        archive.spec(Kind.VERIFY, home),
        archive.spec(Kind.RESTORE, again),
    ):
        order = replace(spec.order, workspace_id=str(home.workspace_id), proof=Proof.EXTRACT)
        if (await done(house.runtime, replace(spec, order=order))).exit_code != 0:
            return False
    return sight(restored) == sight(there)


async def test_what_it_leaves_in_the_store_of_an_ordinary_user_is_that_user_s(house: House, tmp_path: Path) -> None:
    home, there = await made(house)
    fill(there)
    archive = errand(tmp_path)
    assert isinstance(archive.place, DirectoryPlace)
    os.chown(archive.place.folder, 4711, 4712)
    assert (await done(house.runtime, archive.spec(Kind.ARCHIVE, home))).exit_code == 0
    owners = {(path.stat().st_uid, path.stat().st_gid) for path in archive.place.folder.iterdir()}
    assert owners == {(4711, 4712)}
    assert (await done(house.runtime, archive.spec(Kind.VERIFY, home))).exit_code == 0


async def test_sized_homes_come_back_and_one_that_is_too_small_says_so(house: House, tmp_path: Path) -> None:
    def point(home: VolumeSpec) -> Path:
        return tmp_path / "sized" / house.installation / home.name

    home, _ = await made(house, SIZE)
    fill(point(home))
    (point(home) / "large").write_bytes(os.urandom(SIZE // 2))
    archive = errand(tmp_path)
    assert (await done(house.runtime, archive.spec(Kind.ARCHIVE, home))).exit_code == 0
    for size, code in ((SIZE, 0), (SIZE // 2, 28)):
        again, _ = await made(house, size)
        spec = archive.spec(Kind.RESTORE, again)
        order = replace(spec.order, workspace_id=str(home.workspace_id))
        assert (await done(house.runtime, replace(spec, order=order))).exit_code == code
        assert (sight(point(again)) == sight(point(home))) is (code == 0)


async def test_one_whose_maker_died_before_it_began_is_begun_anew(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(containers, "NAME_TRIES", 3)
    home, _ = await made(house)
    spec = errand(tmp_path).spec(Kind.ARCHIVE, home)
    await house.runtime.jobs._make(spec)
    left = await house.runtime.jobs.status(spec.name)
    assert (left.state, left.exit_code) == (JobState.ENDED, 75)
    assert (await done(house.runtime, spec)).exit_code == 0
    assert len(await house.runtime.jobs.list()) == 1


@pytest.mark.parametrize("share", [0, 0.5])
async def test_one_whose_order_did_not_come_whole_ends_with_a_passing_fault(
    house: House, tmp_path: Path, share: float
) -> None:
    home, _ = await made(house)
    spec = errand(tmp_path).spec(Kind.ARCHIVE, home)
    begun = await house.runtime.jobs._make(spec)
    await house.runtime.jobs._start(begun, b'{"format": 1}'[: int(13 * share)])
    assert (await ended(house.runtime, spec.name)).exit_code == 75


async def test_an_order_of_megabytes_arrives_whole(house: House, store: SilentStore) -> None:
    """That of a large home in S3 has thousands of URLs."""
    home, _ = await made(house)
    spec = store.errand.spec(Kind.VERIFY, home)
    spec = replace(spec, order=replace(spec.order, codehub_version="x" * 8 * MIB))
    store.hang_up()
    assert (await done(house.runtime, spec)).exit_code == 75
    said = [line async for line in house.runtime.jobs.follow(spec.name)]
    assert b"does not answer" in said[-1]


async def test_without_its_image_nothing_is_begun_and_doctor_says_so(house: House, tmp_path: Path) -> None:
    home, _ = await made(house)
    without = DockerRuntime(house.installation, HOST, job_image="codehub/job:none")
    try:
        with pytest.raises(RuntimeFault, match="codehub image build job"):
            await without.jobs.run(errand(tmp_path).spec(Kind.ARCHIVE, home))
        assert [each for each in await without.findings() if "codehub/job:none is not there" in each]
        assert await house.runtime.jobs.list() == ()
    finally:
        await without.close()


async def test_a_job_needs_its_store_s_folder(house: House, tmp_path: Path) -> None:
    home, _ = await made(house)
    spec = Errand(DirectoryPlace(tmp_path / "nowhere")).spec(Kind.ARCHIVE, home)
    with pytest.raises(RuntimeFault):
        await house.runtime.jobs.run(spec)
    assert await house.runtime.jobs.list() == ()
    assert not (tmp_path / "nowhere").exists()


async def test_before_their_image_is_made_none_is_begun(house: House, tmp_path: Path) -> None:
    home, _ = await made(house)
    early = DockerRuntime(house.installation, HOST, homes_folder=tmp_path / "sized", job_image="codehub/job:to-be-made")
    try:
        with pytest.raises(NoJobs, match="codehub image build job"):
            await early.jobs.run(errand(tmp_path).spec(Kind.ARCHIVE, home))
        assert await early.jobs.list() == ()
    finally:
        await early.close()
