"""Finds out, at the beginning of a term, what the archive store really does, and tells those who operate it.

Nothing rests on what it finds: whoever writes a marker reads it back, every attempt writes under a key of its own, and
no home goes before its archive was read back. A store that breaks a promise is told of all the same: it costs somebody
something some day."""

import asyncio

import structlog

from codehub.archives.errors import StoreError
from codehub.archives.object_store import ObjectStore
from codehub.archives.probe import probe
from codehub.coordinators.supervisor import Report

log = structlog.get_logger()

AGAIN_SECONDS = 10.0


async def probe_store(store: ObjectStore, report: Report) -> None:
    """As soon as the store answers. Whether it does, others watch."""
    while True:
        try:
            found = await probe(store)
        except StoreError as error:
            log.debug("archive store not probed yet", reason=str(error))
            await asyncio.sleep(AGAIN_SECONDS)
        else:
            break
    report.store_lacks = found.missing
    if found.missing:
        log.warning("the archive store does not do what it should", lacks=found.missing)
