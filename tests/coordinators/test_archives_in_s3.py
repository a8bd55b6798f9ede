"""Homes that sleep in a real S3 store: jobs reach it through the leader's relay alone, whoever leads."""

import asyncio
import os
import stat
import uuid
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from codehub.archives.object_store import UnfinishedUpload
from codehub.archives.open import ensure_bucket, open_store
from codehub.coordinators.store_relay import StoreRelay
from codehub.job.order import Kind, S3Place
from codehub.job.progress import Stage
from codehub.model.states import Desired, Phase, Step
from codehub.stack.seaweedfs import SeaweedFS
from tests.coordinators.homes import content, furnished, held, hold, home_of, keys_of, opened
from tests.coordinators.house import House, until
from tests.coordinators.sessions import kill_leader
from tests.folders import short_folder

BUCKET = "coordinators"
LEASE_SECONDS = 2
SOME_PARTS = 20 * 1024 * 1024


@pytest.fixture
async def in_s3(house: House, s3_server: SeaweedFS) -> AsyncIterator[House]:
    """A house whose homes sleep in a prefix of its own."""
    await ensure_bucket(f"s3://{BUCKET}", **s3_server.access)
    house.store = open_store(f"s3://{BUCKET}/{uuid.uuid4().hex}", **s3_server.access)
    yield house
    for replica in house.replicas:
        await replica.stop()
    async for upload in house.store.unfinished():
        await house.store.discard(upload)


def is_socket(path: Path) -> bool:
    return path.is_socket()


async def unfinished(house: House) -> list[UnfinishedUpload]:
    return [each async for each in house.store.unfinished()]


async def test_a_home_sleeps_in_s3_and_comes_back_as_it_was(in_s3: House) -> None:
    in_s3.replica()
    workspace_id, _ = await furnished(in_s3)
    home = home_of(in_s3, await in_s3.row(workspace_id))
    (home / "film").write_bytes(os.urandom(SOME_PARTS))
    before = content(home)
    await in_s3.wish(workspace_id, Desired.ARCHIVED)
    row = await in_s3.until_phase(workspace_id, Phase.ARCHIVED, 60)
    assert await keys_of(in_s3.store, workspace_id) == [row.archive_key, f"{row.archive_key}.meta"]
    assert await unfinished(in_s3) == []
    assert not in_s3.engine.homes
    assert await opened(in_s3, workspace_id) == before


async def test_a_job_is_lent_one_archive_and_the_way_to_the_store(in_s3: House, s3_server: SeaweedFS) -> None:
    in_s3.replica()
    workspace_id, before = await furnished(in_s3)
    hold(in_s3, Kind.ARCHIVE, Stage.SURVEY)
    await in_s3.wish(workspace_id, Desired.ARCHIVED)
    await held(in_s3, workspace_id, Step.ARCHIVE, Stage.SURVEY)
    [job] = in_s3.engine.disk.jobs.values()
    place = job.spec.order.place
    assert isinstance(place, S3Place)
    assert place.socket == str(in_s3.relay_folder / "wc" / "store.sock")
    assert is_socket(Path(place.socket))
    assert s3_server.secret_key not in repr(job.spec)
    hold(in_s3, Kind.VERIFY, Stage.VERIFY)
    in_s3.engine.release_jobs(workspace_id)
    await held(in_s3, workspace_id, Step.VERIFY, Stage.VERIFY)
    [job] = in_s3.engine.disk.jobs.values()
    place = job.spec.order.place
    assert isinstance(place, S3Place)
    assert (place.put_marker, place.parts) == (None, None), "whoever reads can write nothing"
    in_s3.engine.release_jobs(workspace_id)
    await in_s3.until_phase(workspace_id, Phase.ARCHIVED)
    assert await opened(in_s3, workspace_id) == before


@pytest.mark.parametrize("at", [Stage.SURVEY, Stage.ARCHIVE, Stage.COMMIT])
async def test_an_upload_goes_on_through_the_relay_of_the_next_leader(in_s3: House, at: Stage) -> None:
    in_s3.replica(lease_seconds=LEASE_SECONDS)
    in_s3.replica(lease_seconds=LEASE_SECONDS)
    workspace_id, before = await furnished(in_s3)
    hold(in_s3, Kind.ARCHIVE, at)
    await in_s3.wish(workspace_id, Desired.ARCHIVED)
    await held(in_s3, workspace_id, Step.ARCHIVE, at)
    await kill_leader(in_s3.database_url, "coordinator:wc")
    in_s3.engine.release_jobs(workspace_id)
    await in_s3.until_phase(workspace_id, Phase.ARCHIVED, 60)
    assert await opened(in_s3, workspace_id) == before
    assert await unfinished(in_s3) == []


async def test_what_a_killed_job_has_begun_is_given_up_before_the_next(in_s3: House) -> None:
    in_s3.replica()
    workspace_id, before = await furnished(in_s3)
    hold(in_s3, Kind.ARCHIVE, Stage.ARCHIVE)
    await in_s3.wish(workspace_id, Desired.ARCHIVED)
    await held(in_s3, workspace_id, Step.ARCHIVE, Stage.ARCHIVE)
    [begun] = await unfinished(in_s3)
    in_s3.engine.kill_jobs(workspace_id)
    row = await in_s3.until_phase(workspace_id, Phase.ARCHIVED, 60)
    assert row.archive_key != begun.key, "a failed attempt's name is not used again"
    assert await opened(in_s3, workspace_id) == before


# The relay


@pytest.fixture
async def address() -> AsyncIterator[tuple[str, int]]:
    """A server that sends back whatever it gets."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
        await ended(writer)

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[:2]
    server.close()


async def asked(path: Path, question: bytes) -> bytes:
    """What comes back of it; nothing where the connection is ended."""
    reader, writer = await asyncio.open_unix_connection(path)
    try:
        writer.write(question)
        writer.write_eof()
        return await asyncio.wait_for(reader.read(-1), 10)
    except ConnectionError:
        return b""
    finally:
        await ended(writer)


async def ended(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


async def is_open(path: Path) -> None:
    async def there() -> bool | None:
        return is_socket(path) or None

    await until(there, 60)


async def test_the_relay_passes_everything_on_and_the_next_one_takes_its_place(address: tuple[str, int]) -> None:
    with short_folder() as folder:
        first, second = (StoreRelay(folder / "relay", address, most=4) for _ in range(2))
        serving = asyncio.create_task(first.serve())
        await is_open(first.path)
        question = os.urandom(1024 * 1024)
        assert await asked(first.path, question) == question
        assert sorted(each.name for each in first.path.parent.iterdir()) == ["store.sock"]
        next_one = asyncio.create_task(second.serve())
        await is_open(second.path)
        serving.cancel()
        await asyncio.wait([serving])
        assert await asked(first.path, question) == question
        next_one.cancel()
        await asyncio.wait([next_one])


async def test_a_job_of_any_user_may_pass_whatever_the_umask(address: tuple[str, int]) -> None:
    with short_folder() as folder:
        relay = StoreRelay(folder / "relay", address, most=1)
        before = os.umask(0o077)
        try:
            serving = asyncio.create_task(relay.serve())
            await is_open(relay.path)
        finally:
            os.umask(before)
        modes = [stat.S_IMODE(each.stat().st_mode) for each in (relay.path.parent, relay.path)]
        assert modes == [0o711, 0o666]
        serving.cancel()
        await asyncio.wait([serving])


async def test_the_relay_carries_no_more_than_it_may(address: tuple[str, int]) -> None:
    with short_folder() as folder:
        relay = StoreRelay(folder / "relay", address, most=1)
        serving = asyncio.create_task(relay.serve())
        await is_open(relay.path)
        reader, writer = await asyncio.open_unix_connection(relay.path)
        writer.write(b"first")
        assert await reader.read(5) == b"first"
        assert await asked(relay.path, b"second") == b""
        await ended(writer)

        async def free() -> bool | None:
            return await asked(relay.path, b"third") == b"third" or None

        await until(free, 60)
        serving.cancel()
        await asyncio.wait([serving])


async def test_a_store_that_is_away_ends_the_connection(address: tuple[str, int]) -> None:
    with short_folder() as folder:
        relay = StoreRelay(folder / "relay", (address[0], 1), most=1)
        serving = asyncio.create_task(relay.serve())
        await is_open(relay.path)
        assert await asked(relay.path, b"anybody?") == b""
        serving.cancel()
        await asyncio.wait([serving])
