"""What the GC runner reads and writes: archives as generations, and what it has noted as unprotected."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, select, tuple_
from sqlalchemy.dialects.postgresql import insert

from codehub.decide.orphans import Found, Generation, OrphanKind
from codehub.store.seat import PostgresSeat
from codehub.store.tables import archives, orphans


class PostgresCollector:
    def __init__(self, seat: PostgresSeat) -> None:
        self._seat = seat

    async def generations(self) -> Sequence[Generation]:
        query = select(archives.c.key, archives.c.workspace_id, archives.c.made_at, archives.c.kept)
        async with self._seat.transaction() as connection:
            rows = await connection.execute(query.order_by(archives.c.workspace_id, archives.c.generation))
            return [Generation(row.key, row.workspace_id, row.made_at, row.kept) for row in rows]

    async def noted_orphans(self) -> dict[Found, datetime]:
        async with self._seat.transaction() as connection:
            rows = await connection.execute(select(orphans))
            return {Found(OrphanKind(row.kind), row.key, row.workspace_id): row.first_seen for row in rows}

    async def note_orphans(self, found: Sequence[Found]) -> None:
        if not found:
            return
        notes = [
            {
                "kind": each.kind,
                "key": each.key,
                "workspace_id": each.workspace_id,
                "first_seen": func.clock_timestamp(),
            }
            for each in found
        ]
        async with self._seat.transaction() as connection:
            await connection.execute(insert(orphans).values(notes).on_conflict_do_nothing())

    async def forget_orphans(self, found: Sequence[Found]) -> None:
        if not found:
            return
        named = tuple_(orphans.c.kind, orphans.c.key).in_([(each.kind, each.key) for each in found])
        async with self._seat.transaction() as connection:
            await connection.execute(delete(orphans).where(named))
