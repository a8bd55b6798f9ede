"""A home in S3, through presigned URLs and a unix socket: a real store, which is also cut off, and jobs that die."""

import asyncio
import random
import subprocess
import uuid
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from codehub import clock
from codehub.archives.object_store import ObjectStore
from codehub.archives.open import ensure_bucket, open_store
from codehub.archives.presign import Presigner
from codehub.archives.s3_requests import Bucket
from codehub.archives.sigv4 import Credentials
from codehub.job.order import Kind, S3Place
from codehub.stack.seaweedfs import SeaweedFS
from tests.contracts.object_store_reads import content_of, keys_of
from tests.job.campaign import size
from tests.job.orders import NAME, Desk, Outcome, fresh
from tests.job.relay import Relay, relay_to
from tests.job.sights import sight

BUCKET = "jobs"
MIB = 1024 * 1024
WAITS = (0.05, 0.1, 0.2)
SECONDS = 60


@dataclass(frozen=True)
class Archive:
    """One archive in the store, and the relay that leads there."""

    bucket: Bucket
    path: str
    relay: Relay
    store: ObjectStore
    folder: Path
    workspace_id: str

    async def to_write(self) -> Desk:
        """A new upload each time, as a controller opens one for each job."""
        upload_id = await self.bucket.begin(self.path)
        return self._desk(Presigner(self.bucket, at=clock.now()).for_archiving(self.path, upload_id, 64 * MIB))

    def to_read(self) -> Desk:
        return self._desk(Presigner(self.bucket, at=clock.now()).for_reading(self.path))

    async def run(self, desk: Desk, kind: Kind, home: Path) -> Outcome:
        return await asyncio.to_thread(desk.run, kind, home)

    async def is_whole(self, home: Path) -> None:
        """Made by one more run, if need be, read back, and restored."""
        written = await self.run(await self.to_write(), Kind.ARCHIVE, home)
        assert (await self.run(self.to_read(), Kind.VERIFY, home)).totals == written.totals
        target = fresh(self.folder, uuid.uuid4().hex)
        assert (await self.run(self.to_read(), Kind.RESTORE, target)).exit_code == 0
        assert sight(target) == sight(home)

    def _desk(self, place: S3Place) -> Desk:
        lent = replace(place, socket=str(self.relay.path), retry_waits=WAITS)
        return Desk(self.folder, lent, workspace_id=self.workspace_id)


@pytest.fixture
async def archive(s3_server: SeaweedFS, tmp_path: Path, services_folder: Path) -> AsyncIterator[Archive]:
    await ensure_bucket(f"s3://{BUCKET}", **s3_server.access)
    credentials = Credentials(s3_server.access_key, s3_server.secret_key, region="us-east-1")
    workspace_id = uuid.uuid4().hex
    store = open_store(f"s3://{BUCKET}/{workspace_id}", **s3_server.access)
    bucket = Bucket(s3_server.endpoint, BUCKET, credentials)
    async with relay_to(s3_server.endpoint, services_folder / f"{workspace_id[:8]}.sock") as relay:
        yield Archive(bucket, f"{workspace_id}/{NAME}", relay, store, tmp_path, workspace_id)
        async for upload in store.unfinished():
            await store.discard(upload)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some parts long, since nothing in it compresses."""
    home = fresh(tmp_path_factory.mktemp("s3"), "home")
    noise = random.Random(2)
    for number in range(5):
        (home / f"large-{number}").write_bytes(noise.randbytes(5 * MIB))
    for number in range(200):
        (home / f"small-{number}").write_bytes(noise.randbytes(100))
    return home


async def test_a_home_goes_there_and_comes_back(archive: Archive, home: Path) -> None:
    await archive.is_whole(home)
    assert sorted(await keys_of(archive.store)) == [NAME, f"{NAME}.meta"]


async def test_an_archive_that_is_there_is_left_as_it_is(archive: Archive, home: Path, tmp_path: Path) -> None:
    first = await archive.run(await archive.to_write(), Kind.ARCHIVE, home)
    marker = await content_of(archive.store, f"{NAME}.meta")
    second = await archive.run(await archive.to_write(), Kind.ARCHIVE, fresh(tmp_path, "another"))
    assert second.totals == first.totals
    assert await content_of(archive.store, f"{NAME}.meta") == marker


@pytest.mark.parametrize("seed", range(size(small=4, large=40)))
async def test_a_connection_that_is_cut_is_made_again(archive: Archive, home: Path, seed: int) -> None:
    chosen = random.Random(seed)
    archive.relay.cuts += sorted(chosen.randrange(1000, 70 * MIB) for _ in range(3))
    await archive.is_whole(home)


async def test_a_store_that_is_away_is_a_passing_fault(archive: Archive, home: Path) -> None:
    desk = await archive.to_write()
    archive.relay.is_open = False
    assert (await archive.run(desk, Kind.ARCHIVE, home)).exit_code == 75
    archive.relay.is_open = True
    await archive.is_whole(home)


async def test_a_store_that_goes_away_meanwhile_commits_nothing(archive: Archive, home: Path) -> None:
    desk = await archive.to_write()
    job = asyncio.create_task(archive.run(desk, Kind.ARCHIVE, home))
    async with asyncio.timeout(SECONDS):
        while archive.relay.passed < 6 * MIB:
            await asyncio.sleep(0.01)
    archive.relay.is_open = False
    archive.relay.cuts.append(0)
    assert (await job).exit_code == 75
    archive.relay.is_open = True
    assert await keys_of(archive.store) == []
    await archive.is_whole(home)


async def test_more_than_was_ordered_is_a_passing_fault(archive: Archive, home: Path) -> None:
    desk = await archive.to_write()
    assert isinstance(desk.place, S3Place)
    assert desk.place.parts is not None
    few = replace(desk, place=replace(desk.place, parts=replace(desk.place.parts, put=desk.place.parts.put[:2])))
    outcome = await archive.run(few, Kind.ARCHIVE, home)
    assert (outcome.exit_code, "another order" in outcome.message) == (75, True)
    assert await keys_of(archive.store) == []


async def test_an_upload_that_was_discarded_is_a_passing_fault(archive: Archive, home: Path) -> None:
    desk = await archive.to_write()
    async for upload in archive.store.unfinished():
        await archive.store.discard(upload)
    assert (await archive.run(desk, Kind.ARCHIVE, home)).exit_code == 75
    assert await keys_of(archive.store) == []


async def test_a_changed_byte_in_the_store_is_found(archive: Archive, home: Path, tmp_path: Path) -> None:
    await archive.run(await archive.to_write(), Kind.ARCHIVE, home)
    data = bytearray(await content_of(archive.store, NAME))
    data[len(data) // 2] ^= 1
    await archive.store.put(NAME, bytes(data))
    for kind in (Kind.VERIFY, Kind.RESTORE):
        assert (await archive.run(archive.to_read(), kind, fresh(tmp_path, kind))).exit_code == 65


@pytest.mark.parametrize("seed", range(size(small=4, large=60)))
async def test_a_killed_job_leaves_a_whole_archive_or_none(archive: Archive, home: Path, seed: int) -> None:
    desk = await archive.to_write()
    with desk.begin(Kind.ARCHIVE, home) as job:
        with suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(job.wait, random.Random(seed).uniform(0.2, 2))
        job.kill()
        await asyncio.to_thread(job.communicate, timeout=SECONDS)
    assert (await archive.run(archive.to_read(), Kind.VERIFY, home)).exit_code in {0, 66}
    await archive.is_whole(home)


async def test_a_second_run_with_the_same_order_replaces_the_parts_of_the_first(archive: Archive, home: Path) -> None:
    desk = await archive.to_write()
    with desk.begin(Kind.ARCHIVE, home) as job:
        async with asyncio.timeout(SECONDS):
            while archive.relay.passed < 6 * MIB:
                await asyncio.sleep(0.01)
        job.kill()
        await asyncio.to_thread(job.communicate, timeout=SECONDS)
    totals = (await archive.run(desk, Kind.ARCHIVE, home)).totals
    assert (await archive.run(archive.to_read(), Kind.VERIFY, home)).totals == totals
