"""The archive store as the simulation has it: objects in memory, and a step at each call that matters."""

import hashlib
from datetime import UTC, datetime
from functools import lru_cache

from codehub.archives.empty import EMPTY, EMPTY_ARCHIVE
from codehub.archives.errors import StoreUnreachable
from codehub.job.faults import Corrupt
from codehub.job.marker import MARKER_SUFFIX, Totals, parse_marker
from tests.simulation.memory_objects import MemoryObjects
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


class SimulatedStore(MemoryObjects):
    def __init__(self, steps: Steps, watcher: Watcher) -> None:
        super().__init__(lambda: LONG_AGO)
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
        """As a job does, too, that is beside the store."""
        self._watcher.object_written(key, data)
        super().write(key, data)

    def remove(self, key: str) -> None:
        self._watcher.object_deleted(key)
        super().remove(key)

    async def _step(self, what: str, key: str) -> None:
        if not key.startswith(PROBE):
            await self._steps.take(f"store: {what} {_short(key)}", _away)

    async def _pause(self) -> None:
        """What takes no step takes no time."""


def _away() -> None:
    raise StoreUnreachable("the archive store does not answer")


def _short(key: str) -> str:
    parts = key.split("/")
    return f"{parts[1][:4]} {parts[2]}" if len(parts) == 3 else key
