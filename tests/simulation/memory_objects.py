"""An archive store in memory. `tests/contracts/test_object_store.py` runs on it as on the real ones."""

import asyncio
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from itertools import count
from pathlib import Path

from codehub import clock
from codehub.archives.errors import AlreadyExists, ObjectNotFound, UploadBroken
from codehub.archives.keys import check_key, split_prefix
from codehub.archives.object_store import Loan, ObjectInfo, UnfinishedUpload, Upload, clip_range
from codehub.archives.probe import try_to_write
from codehub.job.order import DirectoryPlace, Kind

PIECE_BYTES = 1024 * 1024


class MemoryObjects:
    """Every call gives way to others before its effect, and each effect is one that nothing interrupts."""

    def __init__(self, now: Callable[[], datetime] = clock.now) -> None:
        self.objects: dict[str, bytes] = {}
        self.begun: dict[str, UnfinishedUpload] = {}
        self._now = now
        self._written: dict[str, datetime] = {}
        self._numbers = count(1)

    def write(self, key: str, data: bytes) -> None:
        self.objects[key] = data
        self._written[key] = self._now()

    def remove(self, key: str) -> None:
        del self.objects[key]

    async def put(self, key: str, data: bytes) -> None:
        check_key(key)
        await self._step("put", key)
        self.write(key, data)
        await self._step("has put", key)

    async def create(self, key: str, data: bytes) -> None:
        check_key(key)
        await self._step("create", key)
        if key in self.objects:
            raise AlreadyExists(key)
        self.write(key, data)
        await self._step("has created", key)

    async def head(self, key: str) -> ObjectInfo | None:
        check_key(key)
        await self._step("head", key)
        return self._info(key) if key in self.objects else None

    async def read(self, key: str, start: int = 0, length: int | None = None) -> AsyncGenerator[bytes, None]:
        check_key(key)
        await self._pause()
        if key not in self.objects:
            raise ObjectNotFound(key)
        data = self.objects[key]
        first, end = clip_range(key, len(data), start, length)
        for place in range(first, end, PIECE_BYTES):
            yield data[place : min(end, place + PIECE_BYTES)]

    async def list(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        split_prefix(prefix)
        await self._step("list", prefix)
        for key in list(self.objects):
            if key.startswith(prefix) and key in self.objects:
                yield self._info(key)

    async def delete(self, key: str) -> None:
        check_key(key)
        await self._step("delete", key)
        if key in self.objects:
            self.remove(key)
        await self._step("has deleted", key)

    @asynccontextmanager
    async def upload(self, key: str) -> AsyncIterator[Upload]:
        check_key(key)
        number = str(next(self._numbers))
        self.begun[number] = UnfinishedUpload(key, number, self._now())
        try:
            yield _MemoryUpload(self, self.begun[number])
        finally:
            self.begun.pop(number, None)

    async def unfinished(self, prefix: str = "") -> AsyncIterator[UnfinishedUpload]:
        split_prefix(prefix)
        for each in list(self.begun.values()):
            if each.key.startswith(prefix):
                yield each

    async def discard(self, upload: UnfinishedUpload) -> None:
        self.begun.pop(upload.upload_id, None)

    @property
    def address(self) -> None:
        return None

    async def lend(self, key: str, loan: Loan) -> DirectoryPlace:
        await self._step("lend", key)
        if loan.kind is not Kind.ARCHIVE and key not in self.objects:
            raise ObjectNotFound(key)
        return DirectoryPlace(Path("/archives"))

    async def ping(self) -> None:
        """It answers: what is away is a call, not the store."""

    async def require_room(self) -> None:
        await try_to_write(self)

    def _info(self, key: str) -> ObjectInfo:
        data = self.objects[key]
        return ObjectInfo(key, len(data), f"{zlib.crc32(data):x}", self._written.get(key) or self._now())

    async def _step(self, what: str, key: str) -> None:  # noqa: ARG002
        await self._pause()

    async def _pause(self) -> None:
        await asyncio.sleep(0)


class _MemoryUpload:
    def __init__(self, store: MemoryObjects, begun: UnfinishedUpload) -> None:
        self._store = store
        self._begun = begun
        self._pieces: list[bytes] = []
        self._is_broken = False

    async def write(self, data: bytes) -> None:
        try:
            await self._store._pause()
        except BaseException:
            self._is_broken = True
            raise
        self._pieces.append(data)

    async def complete(self) -> ObjectInfo:
        if self._is_broken or self._store.begun.pop(self._begun.upload_id, None) is None:
            raise UploadBroken(self._begun.key)
        self._store.write(self._begun.key, b"".join(self._pieces))
        return self._store._info(self._begun.key)
