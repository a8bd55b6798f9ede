"""What the GC runner reads and writes: archives as generations, and what it has noted as unprotected."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import TextClause, Uuid, bindparam, select, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import Text

from codehub.decide.orphans import Found, Generation, OrphanKind
from codehub.store.seat import PostgresSeat
from codehub.store.tables import archives, orphans

_FOUND = (
    bindparam("kinds", type_=ARRAY(Text)),
    bindparam("keys", type_=ARRAY(Text)),
    bindparam("workspace_ids", type_=ARRAY(Uuid)),
)
_NOTE = text("""
    INSERT INTO orphans (kind, key, workspace_id, first_seen)
    SELECT kind, key, workspace_id, clock_timestamp()
    FROM unnest(:kinds, :keys, :workspace_ids) AS found (kind, key, workspace_id)
    ON CONFLICT DO NOTHING
""").bindparams(*_FOUND)
_FORGET = text("""
    DELETE FROM orphans
    USING unnest(:kinds, :keys, :workspace_ids) AS found (kind, key, workspace_id)
    WHERE (orphans.kind, orphans.key, orphans.workspace_id) = (found.kind, found.key, found.workspace_id)
""").bindparams(*_FOUND)


class PostgresCollector:
    def __init__(self, seat: PostgresSeat) -> None:
        self._seat = seat

    async def generations(self) -> Sequence[Generation]:
        query = select(archives.c.key, archives.c.workspace_id, archives.c.made_at, archives.c.kept)
        async with self._seat.statement() as connection:
            rows = await connection.execute(query.order_by(archives.c.workspace_id, archives.c.generation))
            return [Generation(row.key, row.workspace_id, row.made_at, row.kept) for row in rows]

    async def noted_orphans(self) -> dict[Found, datetime]:
        async with self._seat.statement() as connection:
            rows = await connection.execute(select(orphans))
            return {Found(OrphanKind(row.kind), row.key, row.workspace_id): row.first_seen for row in rows}

    async def note_orphans(self, found: Sequence[Found]) -> None:
        await self._execute(_NOTE, found)

    async def forget_orphans(self, found: Sequence[Found]) -> None:
        await self._execute(_FORGET, found)

    async def _execute(self, statement: TextClause, found: Sequence[Found]) -> None:
        if not found:
            return
        values = {
            "kinds": [each.kind for each in found],
            "keys": [each.key for each in found],
            "workspace_ids": [each.workspace_id for each in found],
        }
        async with self._seat.statement() as connection:
            await connection.execute(statement, values)
