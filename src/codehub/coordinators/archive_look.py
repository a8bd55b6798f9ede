"""How the Observer looks at archives: archive and commit marker, each by one small request."""

import asyncio
import json
from collections.abc import Sequence
from datetime import datetime

from codehub.archives.errors import ObjectNotFound, StoreError
from codehub.archives.object_store import ObjectStore, read_all
from codehub.model.sightings import ArchiveState, SeenArchive

MARKER_SUFFIX = ".meta"
MARKER_LIMIT = 64 * 1024
AT_ONCE = 8


class StoreLook:
    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._turn = asyncio.Semaphore(AT_ONCE)

    async def look(self, keys: Sequence[str], looked_at: datetime) -> Sequence[SeenArchive]:
        states = await asyncio.gather(*(self._state(key) for key in keys))
        return [
            SeenArchive(key, state, looked_at) for key, state in zip(keys, states, strict=True) if state is not None
        ]

    async def _state(self, key: str) -> ArchiveState | None:
        """None where the store could not say: absence has to be seen."""
        async with self._turn:
            try:
                archive = await self._store.head(key)
                marker = await read_all(self._store, key + MARKER_SUFFIX, limit=MARKER_LIMIT)
            except ObjectNotFound:
                return ArchiveState.MISSING
            except StoreError:
                return None
        if archive is None:
            return ArchiveState.MISSING
        return ArchiveState.WHOLE if _size(marker) == archive.size else ArchiveState.MISMATCH


def _size(marker: bytes) -> object:
    try:
        return json.loads(marker).get("size")
    except (ValueError, AttributeError):
        return None
