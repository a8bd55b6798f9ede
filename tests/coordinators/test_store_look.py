"""What a look at the store says of an archive: whole, missing, another one; nothing where the store could not say."""

import asyncio
import json
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from codehub.archives.directory import DirectoryStore
from codehub.archives.errors import StoreUnreachable
from codehub.archives.object_store import ObjectInfo
from codehub.coordinators.archive_look import AT_ONCE, MARKER_LIMIT, StoreLook
from codehub.model.sightings import ArchiveState, SeenArchive

LOOKED = datetime(2026, 11, 15, 12, tzinfo=UTC)
KEY = "workspace/archive/home.tar.zst"


async def state(store: DirectoryStore) -> ArchiveState | None:
    seen = await StoreLook(store).look([KEY], LOOKED)
    return seen[0].state if seen else None


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStore:
    return DirectoryStore(tmp_path)


async def test_an_archive_of_the_size_that_its_marker_says_is_whole(store: DirectoryStore) -> None:
    await store.put(KEY, b"seven b")
    await store.put(f"{KEY}.meta", json.dumps({"size": 7}).encode())
    assert await StoreLook(store).look([KEY], LOOKED) == [SeenArchive(KEY, ArchiveState.WHOLE, LOOKED)]


@pytest.mark.parametrize("marker", [b'{"size": 8}', b'{"size": "7"}', b"{}", b"[]", b"no JSON", b"\xff", b"null"])
async def test_one_of_another_size_is_not_the_archive(store: DirectoryStore, marker: bytes) -> None:
    await store.put(KEY, b"seven b")
    await store.put(f"{KEY}.meta", marker)
    assert await state(store) is ArchiveState.MISMATCH


async def test_one_without_archive_or_marker_is_missing(store: DirectoryStore) -> None:
    assert await state(store) is ArchiveState.MISSING
    await store.put(KEY, b"seven b")
    assert await state(store) is ArchiveState.MISSING
    await store.delete(KEY)
    await store.put(f"{KEY}.meta", b'{"size": 7}')
    assert await state(store) is ArchiveState.MISSING


async def test_only_so_much_is_read_of_what_should_be_a_marker(store: DirectoryStore) -> None:
    await store.put(KEY, b"seven b")
    await store.put(f"{KEY}.meta", b'{"size": 7}'.ljust(MARKER_LIMIT))
    assert await state(store) is ArchiveState.WHOLE
    await store.put(f"{KEY}.meta", b'{"size": 7}'.ljust(MARKER_LIMIT + 1))
    assert await state(store) is None


class Away(DirectoryStore):
    """Does not answer for one of its keys."""

    async def head(self, key: str) -> ObjectInfo | None:
        if key == "away":
            raise StoreUnreachable("The archive store does not answer.")
        return await super().head(key)


async def test_of_what_the_store_could_not_say_nothing_is_said(tmp_path: Path) -> None:
    seen = await StoreLook(Away(tmp_path)).look(["away", KEY], LOOKED)
    assert seen == [SeenArchive(KEY, ArchiveState.MISSING, LOOKED)]


class Busy(DirectoryStore):
    """Remembers how many read it at once; none goes on before the others could have begun."""

    reading = most = 0

    async def read(self, key: str, start: int = 0, length: int | None = None) -> AsyncGenerator[bytes, None]:
        self.reading += 1
        self.most = max(self.most, self.reading)
        for _ in range(100):
            await asyncio.sleep(0)
        self.reading -= 1
        async for piece in super().read(key, start, length):
            yield piece


async def test_some_are_looked_at_at_once_and_no_more(tmp_path: Path) -> None:
    store = Busy(tmp_path)
    keys = [f"workspace/{number}" for number in range(3 * AT_ONCE)]
    assert [seen.key for seen in await StoreLook(store).look(keys, LOOKED)] == keys
    assert 1 < store.most <= AT_ONCE
