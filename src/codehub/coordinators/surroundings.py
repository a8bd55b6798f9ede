"""Everything that exists outside the database, in whole listings: what the collector judges."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

from codehub.archives.counter import installations
from codehub.archives.object_store import ObjectStore, UnfinishedUpload
from codehub.coordinators.archive_look import MARKER_SUFFIX
from codehub.coordinators.look import unhurried
from codehub.decide.orphans import Found, OrphanKind
from codehub.runtimes.errors import RuntimeFault
from codehub.runtimes.protocols import Runtime

STOP_GRACE_SECONDS = 10.0
_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_ARCHIVE = re.compile(rf"(({_UUID})/{_UUID}/home\.tar\.zst)({re.escape(MARKER_SUFFIX)})?")

Check = Callable[[], None]
"""Raises unless the caller leads at this very moment."""
Remove = Callable[[Check], Awaitable[None]]


class StrangeEngine(RuntimeFault):
    """Its listings are about other homes than ours."""


@dataclass
class Surroundings:
    found: dict[Found, Remove] = field(default_factory=dict)
    """Each thing, and how it is removed: the check is the last thing before each call to the outside."""
    whole: set[str] = field(default_factory=set)
    """The volumes that are there, and the archives that are there with their markers."""
    stand_ins: set[str] = field(default_factory=set)
    """The volumes that only stand in for homes."""
    shared: bool = False
    """Whether another installation has left its mark in the same store."""


async def look_around(store: ObjectStore, runtime: Runtime, installation: str, engine: str | None) -> Surroundings:
    """Whole, or an error: a listing that fails says nothing about what it left out. `engine` is the one that the homes
    were made on."""
    around = Surroundings()
    await _look_at_runtime(around, runtime, engine)
    await _look_at_store(around, store)
    around.shared = bool(await installations(store) - {installation})
    return around


async def _look_at_runtime(around: Surroundings, runtime: Runtime, engine: str | None) -> None:
    seen = await runtime.engine()
    if engine is not None and seen != engine:
        raise StrangeEngine(f"the engine is {seen}, but the homes were made on {engine}")
    async for volume in unhurried(await runtime.volumes.list()):
        found = Found(OrphanKind.VOLUME, volume.name, volume.workspace_id)
        around.found[found] = partial(_remove, partial(runtime.volumes.delete, volume.name))
        around.whole.add(volume.name)
    for instance in await runtime.instances.list():
        found = Found(OrphanKind.CONTAINER, instance.id, instance.workspace_id)
        around.found[found] = partial(_remove, partial(runtime.instances.stop, instance.id, STOP_GRACE_SECONDS))
    for job in await runtime.jobs.list():
        found = Found(OrphanKind.JOB, job.name, job.workspace_id)
        around.found[found] = partial(_remove, partial(runtime.jobs.remove, job.name))
    for volume in await runtime.volumes.stand_ins():  # last: until then a container may hold one
        found = Found(OrphanKind.VOLUME, volume.name, volume.workspace_id)
        around.found[found] = partial(_remove, partial(runtime.volumes.remove_stand_in, volume.name))
        around.stand_ins.add(volume.name)
        around.whole.discard(volume.name)


async def _look_at_store(around: Surroundings, store: ObjectStore) -> None:
    """Objects of other names are not ours to judge."""
    parts: dict[str, int] = {}
    async for key, workspace_id in _archives(store):
        parts[key] = parts.get(key, 0) + 1
        found = Found(OrphanKind.ARCHIVE, key, workspace_id)
        around.found[found] = partial(_remove_archive, store, key)
    around.whole.update(key for key, count in parts.items() if count == 2)
    async for upload in store.unfinished():
        named = _ARCHIVE.fullmatch(upload.key)
        if named is not None:
            found = Found(OrphanKind.UPLOAD, upload_name(upload), UUID(named[2]))
            around.found[found] = partial(_remove, partial(store.discard, upload))


async def _archives(store: ObjectStore) -> AsyncIterator[tuple[str, UUID]]:
    """The key and the workspace of every archive and of every marker."""
    async for each in store.list():
        named = _ARCHIVE.fullmatch(each.key)
        if named is not None:
            yield named[1], UUID(named[2])


def upload_name(upload: UnfinishedUpload) -> str:
    return f"{upload.key}?{upload.upload_id}"


async def _remove(remove: Callable[[], Awaitable[None]], check: Check) -> None:
    check()
    await remove()


async def _remove_archive(store: ObjectStore, key: str, check: Check) -> None:
    """The marker first: what is left of a removal that was cut short is no archive, and nobody restores it."""
    check()
    await store.delete(key + MARKER_SUFFIX)
    check()
    await store.delete(key)
