"""What every archive store promises, shown on a directory, on a real S3 server, and on the twin that is simulated."""

import asyncio
import os
import secrets
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codehub import clock
from codehub.archives.errors import (
    AlreadyExists,
    InvalidKey,
    InvalidRange,
    ObjectNotFound,
    ObjectTooLarge,
    UploadBroken,
)
from codehub.archives.keys import is_legal
from codehub.archives.object_store import ObjectStore, read_all
from codehub.archives.probe import probe
from codehub.stack.seaweedfs import SeaweedFS
from tests.contracts.object_store_places import in_bucket, in_directory
from tests.contracts.object_store_reads import content_of, keys_of, uploads_of
from tests.simulation.memory_objects import MemoryObjects

MIB = 1024 * 1024
ODD_KEYS = [
    "plain",
    "a space",
    " leading and trailing ",
    "a+b",
    "100%",
    "a%20b",
    "a%2Fb",
    "ü/ä/ö",
    "😀",
    "e\u0301 is not é",
    "q?uery#fragment&x=y;z",
    "[brackets]{braces}(parens)",
    "star*tilde~caret^pipe|",
    "\"quotes\"'single'`back`<angle>",
    "...",
    "..hidden",
    "a..b",
    "-dash",
    "x" * 200,
    "/".join(["deep"] * 40),
]
FORBIDDEN_KEYS = [
    "",
    "/absolute",
    "trailing/",
    "double//slash",
    ".",
    "..",
    "a/../b",
    "../escape",
    "nul\0byte",
    "new\nline",
    "back\\slash",
    ".unfinished-0-x",
    "a/.unfinished-0-x",
    "lone\udc80surrogate",
    "x" * 201,
    "/".join(["y" * 199] * 6),
]

names = st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="/\\"), min_size=1, max_size=20)
any_key = st.lists(names, min_size=1, max_size=3).map("/".join).filter(is_legal)
on_shared_store = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)  # examples share the store but never a key


@pytest.fixture(params=["directory", "s3", "memory"])
def kind(request: pytest.FixtureRequest) -> str | SeaweedFS:
    """What the store is, or the server on which it is one."""
    server: SeaweedFS | str = request.getfixturevalue("s3_server") if request.param == "s3" else request.param
    return server


@pytest.fixture
async def store(kind: str | SeaweedFS, tmp_path: Path) -> ObjectStore:
    if kind == "memory":
        return MemoryObjects()
    return (in_directory(tmp_path) if isinstance(kind, str) else await in_bucket(kind)).open()


# Objects


@pytest.mark.parametrize("key", ODD_KEYS)
async def test_an_object_is_found_under_the_very_key_it_was_written_to(store: ObjectStore, key: str) -> None:
    await store.put(key, key.encode())
    assert await content_of(store, key) == key.encode()
    info = await store.head(key)
    assert info is not None
    assert (info.key, info.size) == (key, len(key.encode()))
    assert await keys_of(store) == [key]
    assert await keys_of(store, key) == [key]
    await store.delete(key)
    assert await keys_of(store) == []


@pytest.mark.parametrize("key", FORBIDDEN_KEYS, ids=repr)
async def test_a_key_that_stores_could_understand_differently_is_refused(store: ObjectStore, key: str) -> None:
    for attempt in (store.put(key, b""), store.create(key, b""), store.head(key), store.delete(key)):
        with pytest.raises(InvalidKey):
            await attempt
    with pytest.raises(InvalidKey):
        await content_of(store, key)
    with pytest.raises(InvalidKey):
        async with store.upload(key):
            pass


@on_shared_store
@given(key=any_key, data=st.binary(max_size=200))
async def test_any_legal_key_keeps_any_content(store: ObjectStore, key: str, data: bytes) -> None:
    key = f"{secrets.token_hex(4)}/{key}"
    await store.put(key, data)
    assert await content_of(store, key) == data
    assert await keys_of(store, key) == [key]
    await store.delete(key)


async def test_an_empty_object_is_an_object(store: ObjectStore) -> None:
    await store.put("empty", b"")
    info = await store.head("empty")
    assert info is not None
    assert info.size == 0
    assert await content_of(store, "empty") == b""
    assert await content_of(store, "empty", 0, 5) == b""


async def test_an_object_says_when_it_was_written(store: ObjectStore) -> None:
    before = clock.now()
    await store.put("key", b"data")
    info = await store.head("key")
    assert info is not None
    assert before - timedelta(seconds=2) <= info.modified <= clock.now() + timedelta(seconds=2)


async def test_a_listing_says_the_same_of_an_object_as_asking_for_it(store: ObjectStore) -> None:
    await store.put("small", b"data")
    async with store.upload("large") as upload:
        await upload.write(bytes(20 * MIB))
        await upload.complete()
    async for listed in store.list():
        asked = await store.head(listed.key)
        assert asked is not None
        assert (listed.size, listed.etag) == (asked.size, asked.etag)
        assert abs(listed.modified - asked.modified) < timedelta(seconds=1)


async def test_overwriting_replaces_content_and_etag(store: ObjectStore) -> None:
    await store.put("key", b"old and longer")
    old = await store.head("key")
    await store.put("key", b"new")
    new = await store.head("key")
    assert await content_of(store, "key") == b"new"
    assert old is not None
    assert new is not None
    assert old.etag != new.etag


async def test_what_is_not_there_is_none_or_not_found(store: ObjectStore) -> None:
    assert await store.head("missing") is None
    with pytest.raises(ObjectNotFound):
        await content_of(store, "missing")
    with pytest.raises(ObjectNotFound):
        await content_of(store, "missing", 1, 1)
    assert await keys_of(store, "missing") == []
    assert await uploads_of(store) == []


async def test_a_folder_is_not_an_object(store: ObjectStore) -> None:
    await store.put("folder/object", b"data")
    assert await store.head("folder") is None
    with pytest.raises(ObjectNotFound):
        await content_of(store, "folder")
    await store.delete("folder")
    assert await keys_of(store) == ["folder/object"]
    assert await store.head("folder/object/below") is None


async def test_deleting_twice_is_deleting_once(store: ObjectStore) -> None:
    await store.put("a/key", b"data")
    await store.put("a/other", b"data")
    await store.delete("a/key")
    await store.delete("a/key")
    await store.delete("never/was")
    assert await keys_of(store) == ["a/other"]


# Create-only writes


async def test_create_writes_once(store: ObjectStore) -> None:
    await store.create("key", b"first")
    with pytest.raises(AlreadyExists):
        await store.create("key", b"second")
    assert await content_of(store, "key") == b"first"
    await store.delete("key")
    await store.create("key", b"third")
    assert await content_of(store, "key") == b"third"


async def test_of_eight_who_create_at_once_exactly_one_wins(store: ObjectStore) -> None:
    async def race(key: str) -> None:
        racers = [store.create(key, f"racer {number}".encode()) for number in range(8)]
        results = await asyncio.gather(*racers, return_exceptions=True)
        winners = [number for number, result in enumerate(results) if result is None]
        assert len(winners) == 1
        assert all(isinstance(result, AlreadyExists) for result in results if result is not None)
        assert await content_of(store, key) == f"racer {winners[0]}".encode()

    # All races at once: SeaweedFS lets those who wait for a key look again only each second.
    await asyncio.gather(*(race(f"race/{number}") for number in range(8)))
    assert await uploads_of(store) == []


# Ranges


@pytest.mark.parametrize(
    ("start", "length", "expected"),
    [
        (0, None, b"0123456789"),
        (0, 1, b"0"),
        (3, 4, b"3456"),
        (9, 1, b"9"),
        (9, None, b"9"),
        (5, 100, b"56789"),
        (0, 10, b"0123456789"),
        (4, 0, b""),
        (10, None, b""),
        (10, 5, b""),
    ],
)
async def test_a_range_is_what_lies_in_it(store: ObjectStore, start: int, length: int | None, expected: bytes) -> None:
    await store.put("ten", b"0123456789")
    assert await content_of(store, "ten", start, length) == expected


@pytest.mark.parametrize(("start", "length"), [(11, None), (11, 1), (-1, None), (0, -1)])
async def test_a_range_that_cannot_be_is_an_error(store: ObjectStore, start: int, length: int | None) -> None:
    await store.put("ten", b"0123456789")
    with pytest.raises(InvalidRange):
        await content_of(store, "ten", start, length)


@on_shared_store
@given(data=st.binary(max_size=300), start=st.integers(0, 300), length=st.integers(0, 400))
async def test_ranges_cut_like_slices(store: ObjectStore, data: bytes, start: int, length: int) -> None:
    key, start = secrets.token_hex(8), min(start, len(data))
    await store.put(key, data)
    assert await content_of(store, key, start, length) == data[start : start + length]


async def test_a_whole_read_stops_at_its_limit(store: ObjectStore) -> None:
    await store.put("ten", b"0123456789")
    assert await read_all(store, "ten", limit=10) == b"0123456789"
    with pytest.raises(ObjectTooLarge):
        await read_all(store, "ten", limit=9)


async def test_a_large_object_comes_in_pieces_and_may_be_left_early(store: ObjectStore) -> None:
    data = os.urandom(5 * MIB)
    await store.put("large", data)
    async with aclosing(store.read("large")) as pieces:
        first = await anext(pieces)
    assert len(first) < len(data)
    assert data.startswith(first)
    assert await content_of(store, "large") == data
    assert await content_of(store, "large", MIB - 1, 2 * MIB) == data[MIB - 1 : 3 * MIB - 1]


async def test_a_reader_during_an_overwrite_sees_old_or_new_never_a_mix(store: ObjectStore) -> None:
    versions = [bytes([letter]) * (2 * MIB) for letter in b"abcd"]
    await store.put("key", versions[0])

    async def overwrite() -> None:
        for version in versions * 3:
            await store.put("key", version)

    async with asyncio.TaskGroup() as group:
        writer = group.create_task(overwrite())
        while not writer.done():
            assert await content_of(store, "key") in versions


# Listings


async def test_a_listing_of_thousands_is_complete(store: ObjectStore) -> None:
    keys = [f"many/{number % 7}/{number:05}" for number in range(2300)]
    slots = asyncio.Semaphore(32)

    async def put(key: str) -> None:
        async with slots:
            await store.put(key, b"x")

    await asyncio.gather(*map(put, keys))
    assert sorted(await keys_of(store)) == sorted(keys)
    assert sorted(await keys_of(store, "many/3/")) == sorted(key for key in keys if key.startswith("many/3/"))


async def test_a_prefix_may_end_within_a_name(store: ObjectStore) -> None:
    keys = ["ab", "abc/1", "abc/2", "abd", "b", "abc-d/1"]
    for key in keys:
        await store.put(key, b"x")
    for prefix in ("", "a", "ab", "abc", "abc/", "abc/1", "abc/12", "abd", "abd/", "b", "c", "abc-"):
        expected = sorted(key for key in keys if key.startswith(prefix))
        assert sorted(await keys_of(store, prefix)) == expected, prefix


@pytest.mark.parametrize("prefix", ["../", "/", "a//b", "a/../b"])
async def test_a_prefix_that_leaves_the_store_is_refused(store: ObjectStore, prefix: str) -> None:
    with pytest.raises(InvalidKey):
        await keys_of(store, prefix)
    with pytest.raises(InvalidKey):
        await uploads_of(store, prefix)


# Uploads


@pytest.mark.parametrize("sizes", [[], [0], [1], [MIB] * 3, [16 * MIB], [16 * MIB, 1], [5 * MIB + 7] * 8])
async def test_an_upload_becomes_one_object(store: ObjectStore, sizes: list[int]) -> None:
    pieces = [os.urandom(size) for size in sizes]
    async with store.upload("folder/large") as upload:
        for piece in pieces:
            await upload.write(piece)
        assert await store.head("folder/large") is None
        assert await keys_of(store) == []
        info = await upload.complete()
    assert (info.key, info.size) == ("folder/large", sum(sizes))
    assert await store.head("folder/large") == info
    assert await content_of(store, "folder/large") == b"".join(pieces)
    assert await uploads_of(store) == []


async def test_an_upload_replaces_an_older_object_only_at_its_end(store: ObjectStore) -> None:
    await store.put("key", b"old")
    async with store.upload("key") as upload:
        await upload.write(b"new")
        assert await content_of(store, "key") == b"old"
        await upload.complete()
    assert await content_of(store, "key") == b"new"


@pytest.mark.parametrize("size", [1, 40 * MIB])
async def test_leaving_an_upload_aborts_it(store: ObjectStore, size: int) -> None:
    async with store.upload("key") as upload:
        await upload.write(bytes(size))
    assert await keys_of(store) == []
    assert await uploads_of(store) == []


@pytest.mark.parametrize("size", [1, 40 * MIB])
async def test_an_error_aborts_the_upload_and_keeps_the_older_object(store: ObjectStore, size: int) -> None:
    await store.put("key", b"old")

    async def fail_in_the_middle() -> None:
        async with store.upload("key") as upload:
            await upload.write(bytes(size))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail_in_the_middle()
    assert await content_of(store, "key") == b"old"
    assert await uploads_of(store) == []


async def test_a_cancelled_upload_leaves_nothing(store: ObjectStore) -> None:
    begun = asyncio.Event()

    async def endless() -> None:
        async with store.upload("key") as upload:
            while True:
                await upload.write(bytes(MIB))
                begun.set()

    task = asyncio.create_task(endless())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await keys_of(store) == []
    assert await uploads_of(store) == []


async def test_an_upload_with_a_write_cut_short_cannot_be_completed(store: ObjectStore) -> None:
    async with store.upload("key") as upload:
        await upload.write(bytes(MIB))
        write = asyncio.create_task(upload.write(bytes(40 * MIB)))
        await asyncio.sleep(0)
        write.cancel()
        with pytest.raises(asyncio.CancelledError):
            await write
        with pytest.raises(UploadBroken):
            await upload.complete()
    assert await keys_of(store) == []


async def test_an_upload_is_completed_once(store: ObjectStore) -> None:
    async with store.upload("key") as upload:
        await upload.write(b"data")
        await upload.complete()
        with pytest.raises(UploadBroken):
            await upload.complete()
    assert await content_of(store, "key") == b"data"


async def test_unfinished_uploads_are_listed_with_their_age(store: ObjectStore) -> None:
    before = clock.now()
    async with store.upload("a b/ü+%") as upload, store.upload("other") as other:
        await upload.write(bytes(40 * MIB))
        await other.write(bytes(40 * MIB))
        (found,) = await uploads_of(store, "a b/ü")
        assert found.key == "a b/ü+%"
        assert before - timedelta(seconds=2) <= found.since <= clock.now() + timedelta(seconds=2)
        assert sorted(upload.key for upload in await uploads_of(store)) == ["a b/ü+%", "other"]


async def test_a_discarded_upload_cannot_be_completed(store: ObjectStore) -> None:
    async with store.upload("folder/key") as upload:
        await upload.write(bytes(40 * MIB))
        (found,) = await uploads_of(store)
        await store.discard(found)
        await store.discard(found)
        assert await uploads_of(store) == []
        with pytest.raises(UploadBroken):
            await upload.complete()
    assert await keys_of(store) == []


# What start and `doctor` ask


async def test_the_store_answers_and_keeps_every_promise_that_is_probed(store: ObjectStore) -> None:
    await store.ping()
    await store.require_room()
    assert (await probe(store)).missing == ()
    assert await keys_of(store) == []
