"""The archive store as the simulation has it: objects in memory, and a step at each call that matters."""

import hashlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from codehub.archives.empty import EMPTY, EMPTY_ARCHIVE
from codehub.archives.errors import AlreadyExists, ObjectNotFound, StoreUnreachable
from codehub.archives.object_store import Loan, ObjectInfo, UnfinishedUpload, Upload
from codehub.job.faults import Corrupt
from codehub.job.marker import MARKER_SUFFIX, Totals, parse_marker
from codehub.job.order import DirectoryPlace, Kind
from tests.simulation.steps import Steps, Watcher

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
PROBE = "probe-"


def pack(content: int) -> bytes:
    """The archive of a home. What people wrote there is a bit each."""
    return EMPTY_ARCHIVE if content == 0 else f"home {content:x}".encode()


def unpack(data: bytes) -> int:
    return 0 if data == EMPTY_ARCHIVE else int(data.split()[1], 16)


@lru_cache(1000)
def totals_of(data: bytes) -> Totals:
    if data == EMPTY_ARCHIVE:
        return EMPTY
    digest = hashlib.sha256(data).hexdigest()
    return Totals(len(data), digest, len(data), len(data), 1, digest)


@lru_cache(1000)
def totals_in(marker: bytes) -> Totals:
    return parse_marker(marker).totals


class SimulatedStore:
    def __init__(self, steps: Steps, watcher: Watcher) -> None:
        self.objects: dict[str, bytes] = {}
        self._steps = steps
        self._watcher = watcher

    def whole(self, key: str | None) -> bytes | None:
        """An archive whose marker is there and tells of it."""
        marker = self.objects.get(f"{key}{MARKER_SUFFIX}")
        data = self.objects.get(key or "")
        if marker is None or data is None:
            return None
        try:
            return data if totals_in(marker) == totals_of(data) else None
        except Corrupt:
            return None

    def write(self, key: str, data: bytes) -> None:
        """As a job does that is beside the store."""
        self._watcher.object_written(key, data)
        self.objects[key] = data

    async def put(self, key: str, data: bytes) -> None:
        await self._step("put", key)
        self.write(key, data)
        await self._step("has put", key)

    async def create(self, key: str, data: bytes) -> None:
        await self._step("create", key)
        if key in self.objects:
            raise AlreadyExists(key)
        self.write(key, data)
        await self._step("has created", key)

    async def head(self, key: str) -> ObjectInfo | None:
        await self._step("head", key)
        return self._info(key) if key in self.objects else None

    async def read(self, key: str, start: int = 0, length: int | None = None) -> AsyncGenerator[bytes, None]:
        if key not in self.objects:
            raise ObjectNotFound(key)
        yield self.objects[key][start : None if length is None else start + length]

    async def list(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        await self._step("list", prefix)
        for key in list(self.objects):
            if key.startswith(prefix):
                yield self._info(key)

    async def delete(self, key: str) -> None:
        await self._step("delete", key)
        if key in self.objects:
            self._watcher.object_deleted(key)
            del self.objects[key]
        await self._step("has deleted", key)

    def upload(self, key: str) -> AbstractAsyncContextManager[Upload]:
        raise NotImplementedError(f"jobs send archives, and here they are beside the store: {key}")

    async def unfinished(self, prefix: str = "") -> AsyncIterator[UnfinishedUpload]:
        for each in list[UnfinishedUpload]():
            if each.key.startswith(prefix):
                yield each

    async def discard(self, upload: UnfinishedUpload) -> None:
        raise ObjectNotFound(upload.key)

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

    def _info(self, key: str) -> ObjectInfo:
        return ObjectInfo(key, len(self.objects[key]), "", LONG_AGO)

    async def _step(self, what: str, key: str) -> None:
        if not key.startswith(PROBE):
            await self._steps.take(f"store: {what} {_short(key)}", _away)


def _away() -> None:
    raise StoreUnreachable("the archive store does not answer")


def _short(key: str) -> str:
    parts = key.split("/")
    return f"{parts[1][:4]} {parts[2]}" if len(parts) == 3 else key
