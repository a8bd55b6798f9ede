"""The archive of a home that never was: made in memory, and restored like any other."""

import hashlib
from contextlib import suppress
from datetime import datetime

from codehub.archives.errors import AlreadyExists, StoreLied
from codehub.archives.object_store import ObjectStore, read_all
from codehub.job.faults import Corrupt
from codehub.job.manifest import Manifest
from codehub.job.marker import MARKER_BYTES, MARKER_SUFFIX, Marker, Totals, parse_marker

EMPTY_ARCHIVE = bytes.fromhex("28b52ffd04484d00001000000100fb870758bcbd7ed6")
"""What zstd makes of 10,240 zero bytes, which is what tar makes of nothing."""
EMPTY = Totals(
    size=len(EMPTY_ARCHIVE),
    sha256=hashlib.sha256(EMPTY_ARCHIVE).hexdigest(),
    uncompressed=10_240,
    content=0,
    entries=0,
    manifest_sha256=Manifest().sha256,
)


async def upload_empty(store: ObjectStore, key: str, workspace_id: str, codehub_version: str, at: datetime) -> Totals:
    """Write archive and marker, the marker last and once, and read both back."""
    made_at = at.isoformat(timespec="seconds")
    await store.put(key, EMPTY_ARCHIVE)
    with suppress(AlreadyExists):  # by an attempt whose answer was lost; whether it is the same is seen below
        await store.create(key + MARKER_SUFFIX, Marker(workspace_id, made_at, codehub_version, EMPTY).encode())
    archive = await read_all(store, key, limit=len(EMPTY_ARCHIVE))
    marker = await read_all(store, key + MARKER_SUFFIX, limit=MARKER_BYTES)
    if archive != EMPTY_ARCHIVE or not _says_empty(marker, workspace_id):
        raise StoreLied(f"The archive store shows something else under {key} than was written there.")
    return EMPTY


def _says_empty(data: bytes, workspace_id: str) -> bool:
    try:
        marker = parse_marker(data)
    except Corrupt:
        return False
    return (marker.workspace_id, marker.totals) == (workspace_id, EMPTY)
