"""What archive stores promise when things go wrong: writers are killed, servers are gone, credentials are wrong."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

import pytest

from codehub import clock
from codehub.archives.errors import StoreRefused, StoreUnreachable
from codehub.archives.object_store import ObjectStore, UnfinishedUpload
from codehub.stack.seaweedfs import SeaweedFS
from tests.contracts import object_store_writer
from tests.contracts.object_store_places import CLOSED_PORT, Place, in_bucket, in_directory
from tests.contracts.object_store_reads import content_of, keys_of, uploads_of

Operation = Callable[[ObjectStore], Awaitable[object]]


async def _upload(store: ObjectStore) -> None:
    async with store.upload("key") as upload:
        await upload.write(b"data")
        await upload.complete()


OPERATIONS: dict[str, Operation] = {
    "put": lambda store: store.put("key", b"data"),
    "create": lambda store: store.create("key", b"data"),
    "head": lambda store: store.head("key"),
    "read": lambda store: content_of(store, "key"),
    "range": lambda store: content_of(store, "key", 1, 1),
    "list": keys_of,
    "delete": lambda store: store.delete("key"),
    "upload": _upload,
    "unfinished": uploads_of,
    "discard": lambda store: store.discard(UnfinishedUpload("key", "0123456789abcdef", clock.now())),
    "ping": lambda store: store.ping(),
}
each_operation = pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)


@pytest.fixture(params=["directory", "s3"])
def s3(request: pytest.FixtureRequest) -> SeaweedFS | None:
    """The S3 server, or None where the test runs on a directory."""
    server: SeaweedFS | None = request.getfixturevalue("s3_server") if request.param == "s3" else None
    return server


@pytest.fixture
async def place(s3: SeaweedFS | None, tmp_path: Path) -> Place:
    return await in_bucket(s3) if s3 else in_directory(tmp_path)


@asynccontextmanager
async def killed_writer(work: str, place: Place, *, after_lines: int) -> AsyncIterator[None]:
    """A writer in a process of its own, killed without warning once it has said so many lines."""
    program = [sys.executable, object_store_writer.__file__, work, json.dumps(asdict(place))]
    process = await asyncio.create_subprocess_exec(*program, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        for _ in range(after_lines):
            assert await asyncio.wait_for(process.stdout.readline(), 60)
    finally:
        process.kill()
        await process.wait()
    yield


async def test_a_writer_killed_during_an_upload_leaves_nothing_visible(place: Place) -> None:
    async with killed_writer("upload", place, after_lines=1):
        store = place.open()
        assert await keys_of(store) == []
        (left,) = await uploads_of(store)
        assert left.key == "folder/key"
        assert clock.now() - left.since < timedelta(minutes=1)
        await store.discard(left)
        assert await uploads_of(store) == []


@pytest.mark.parametrize("lines", [1, 2, 5, 8])
async def test_a_writer_killed_during_overwrites_leaves_one_whole_object(place: Place, lines: int) -> None:
    async with killed_writer("put", place, after_lines=lines):
        content = await content_of(place.open(), "folder/key")
        assert content in {letter * object_store_writer.MIB for letter in (b"a", b"b")}


@pytest.mark.parametrize("lines", [1, 3, 6])
async def test_a_writer_killed_during_creations_leaves_whole_objects(place: Place, lines: int) -> None:
    async with killed_writer("create", place, after_lines=lines):
        store = place.open()
        sizes = [info.size async for info in store.list()]
        assert len(sizes) >= lines
        assert set(sizes) == {object_store_writer.MIB}


@each_operation
async def test_a_folder_that_is_not_there_is_unreachable_not_empty(tmp_path: Path, operation: Operation) -> None:
    with pytest.raises(StoreUnreachable):
        await operation(in_directory(tmp_path / "not mounted").open())


@each_operation
async def test_a_server_that_is_gone_is_unreachable(operation: Operation) -> None:
    credentials = {"s3_access_key_id": "someone", "s3_secret_access_key": "secret"}
    with pytest.raises(StoreUnreachable):
        await operation(Place("s3://bucket", credentials | {"s3_endpoint": CLOSED_PORT}).open())


@each_operation
@pytest.mark.parametrize("wrong", ["s3_secret_access_key", "s3_access_key_id"])
async def test_wrong_credentials_are_refused(s3_server: SeaweedFS, operation: Operation, wrong: str) -> None:
    place = (await in_bucket(s3_server)).but(**{wrong: "wrong"})
    with pytest.raises(StoreRefused) as refusal:
        await operation(place.open())
    assert "ARCHIVE_S3_SECRET_ACCESS_KEY" in refusal.value.remedy
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", ["head", "read", "range", "list", "delete", "unfinished", "ping"])
async def test_a_missing_bucket_is_refused_not_empty(s3_server: SeaweedFS, name: str) -> None:
    """Writes are left out: SeaweedFS makes the bucket for an administrator's write."""
    place = await in_bucket(s3_server)
    with pytest.raises(StoreRefused):
        await OPERATIONS[name](Place("s3://no-such-bucket/prefix", place.options).open())
