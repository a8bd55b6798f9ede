"""The twins of what Observer, collector and EventListener see of PostgreSQL."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any
from uuid import UUID

from codehub.decide.orphans import Found, Generation, OrphanKind
from codehub.model.shown import Restorable, ShownArchive, ShownWorkspace
from codehub.model.states import Operation, Phase
from codehub.model.workspace import Workspace
from codehub.store.protocols import Evidence, Listing, Notice, Observed
from tests.simulation.memory_database import MemoryDatabase
from tests.simulation.memory_seat import MemorySeat
from tests.simulation.memory_triggers import Touched
from tests.simulation.rows import changed


class MemoryObserver:
    def __init__(self, seat: MemorySeat) -> None:
        self._seat = seat

    async def targets(self, after: UUID | None, limit: int) -> Sequence[Workspace]:
        return await self._page(_may_have_something, after, limit)

    async def workspaces(self, ids: Sequence[UUID]) -> Sequence[Workspace]:
        async with self._seat.transaction() as database:
            return [database.rows[each] for each in set(ids) if each in database.rows]

    async def unsettled(self, after: Workspace | None, limit: int) -> Sequence[Workspace]:
        async with self._seat.transaction() as database:
            return database.unsettled(after, limit)

    async def unseen_archives(self, limit: int) -> Sequence[Workspace]:
        return await self._page(_archive_is_unseen, None, limit)

    async def archived(self, after: UUID | None, limit: int) -> Sequence[Workspace]:
        return await self._page(lambda row: row.archive_key is not None, after, limit)

    async def write_conditions(self, batch: Sequence[Observed]) -> int:
        async with self._seat.transaction() as database:
            written = 0
            for seen in batch:
                row = database.rows.get(seen.workspace_id)
                if row is not None and (row.observed_at is None or row.observed_at < seen.observed_at):
                    database.write(changed(row, conditions=seen.conditions, observed_at=seen.observed_at))
                    written += 1
            return written

    async def record_listing(self, listing: Listing) -> None:
        async with self._seat.transaction() as database:
            database.listings[listing.kind] = listing

    async def listings(self) -> Sequence[Listing]:
        async with self._seat.transaction() as database:
            return sorted(database.listings.values(), key=lambda listing: listing.kind)

    async def _page(self, which: Callable[[Workspace], bool], after: UUID | None, limit: int) -> Sequence[Workspace]:
        async with self._seat.transaction() as database:
            found = (row for row in database.rows.values() if which(row) and (after is None or row.id > after))
            return sorted(found, key=lambda row: row.id)[:limit]


def _may_have_something(row: Workspace) -> bool:
    return row.current_volume is not None or row.observed_at is None or row.operation is not Operation.NONE


def _archive_is_unseen(row: Workspace) -> bool:
    looked_at = row.conditions.archive.subject if row.conditions.archive is not None else None
    return row.archive_key is not None and row.archive_key != looked_at


class MemoryCollector:
    def __init__(self, seat: MemorySeat) -> None:
        self._seat = seat

    async def now(self) -> datetime:
        async with self._seat.transaction() as database:
            return database.clock()

    async def engine(self, kind: str) -> str | None:
        async with self._seat.transaction() as database:
            listing = database.listings.get(kind)
            return listing.engine if listing is not None else None

    async def rows(self, after: UUID | None, limit: int) -> Sequence[Workspace]:
        async with self._seat.transaction() as database:
            found = (row for row in database.rows.values() if after is None or row.id > after)
            return sorted(found, key=lambda row: row.id)[:limit]

    async def workspaces(self, ids: Sequence[UUID]) -> Sequence[Workspace]:
        async with self._seat.transaction() as database:
            return [database.rows[each] for each in set(ids) if each in database.rows]

    async def generations(self, workspace_ids: Sequence[UUID]) -> Sequence[Generation]:
        async with self._seat.transaction() as database:
            return _generations(database, workspace_ids)

    async def noted_orphans(self) -> dict[Found, datetime]:
        async with self._seat.transaction() as database:
            return dict(database.orphans.values())

    async def note_orphans(self, found: Sequence[Found]) -> None:
        async with self._seat.transaction() as database:
            for each in found:
                database.orphans.setdefault((each.kind, each.key), (each, database.clock()))

    async def forget_orphans(self, found: Sequence[Found]) -> None:
        async with self._seat.transaction() as database:
            for each in found:
                noted = database.orphans.get((each.kind, each.key))
                if noted is not None and noted[0] == each:
                    del database.orphans[each.kind, each.key]

    async def take(self, found: Found, second_look: Callable[[Evidence], str | None]) -> str | None:
        async with self._seat.transaction() as database:
            rows = [row for row in database.rows.values() if row.id == found.workspace_id or _points(row, found.key)]
            known = _generations(database, {row.id for row in rows})
            why = second_look(Evidence(rows, known, database.clock()))
            if why is None and found.kind is OrphanKind.ARCHIVE:
                database.archives.pop(found.key, None)
            return why


def _points(row: Workspace, key: str) -> bool:
    return key in (row.archive_key, row.request and row.request.archive_key)


def _generations(database: MemoryDatabase, workspace_ids: Collection[UUID]) -> Sequence[Generation]:
    known = [(key, each) for key, each in database.archives.items() if each.workspace_id in workspace_ids]
    known.sort(key=lambda item: (item[1].workspace_id, item[1].generation))
    return [Generation(key, each.workspace_id, each.made_at, kept=False) for key, each in known]


class MemoryFeed:
    def __init__(self, seat: MemorySeat) -> None:
        self._seat = seat

    async def listen(self, heard: Callable[[Notice], None]) -> None:
        await self._seat.listen(heard)

    async def shown(self, ids: Sequence[UUID]) -> Sequence[ShownWorkspace]:
        async with self._seat.transaction() as database:
            rows = [database.rows[each] for each in set(ids) if each in database.rows]
            return [_shown(row, database) for row in rows if row.deleted_at is None]


def _shown(row: Workspace, database: MemoryDatabase) -> ShownWorkspace:
    """Descriptions and notes are people's own, and so are names of owners and templates; a simulation has none."""
    written: dict[str, Any] = dict.fromkeys(("owner_login", "description", "memo"), "")
    written |= dict.fromkeys(("template_name", "image", "git_url", "last_activity", "held_until", "hold_reason"))
    written |= {
        "resources": dict(row.resources),
        "deaths": len(row.recent_deaths),
        "request": row.request and row.request.kind,
    }
    written |= {
        "standby_override_seconds": row.standby_after_seconds,
        "archive_override_seconds": row.archive_after_seconds,
    }
    written |= {field.name: getattr(database.touched[row.id], field.name) for field in fields(Touched)}
    written |= {"archive": _archive(row, database), "restorable": _restorable(row, database)}
    names = {field.name for field in fields(ShownWorkspace)} - written.keys()
    return ShownWorkspace(**{name: getattr(row, name) for name in names}, **written)


def _archive(row: Workspace, database: MemoryDatabase) -> ShownArchive | None:
    known = database.archives.get(row.archive_key) if row.archive_key is not None else None
    if known is None:
        return None
    return ShownArchive(known.generation, known.made_at, known.found.size, known.found.entries)


def _restorable(row: Workspace, database: MemoryDatabase) -> Restorable | None:
    made = [
        each.made_at
        for key, each in database.archives.items()
        if (each.workspace_id == row.id or key == row.archive_key)
        and (row.home_volume is not None or key != row.archive_key)
    ]
    return Restorable(len(made), max(made)) if made and row.phase is Phase.ERROR else None
