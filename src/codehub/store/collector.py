"""What the GC runner reads and writes of workspaces and archives, and what it has noted as unprotected."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from uuid import UUID

from sqlalchemy import Select, TextClause, Uuid, bindparam, delete, func, or_, select, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.types import Text

from codehub.decide.orphans import Found, Generation, OrphanKind
from codehub.model.workspace import Workspace
from codehub.store.protocols import Evidence
from codehub.store.rows import WORKSPACE_COLUMNS, to_workspace
from codehub.store.seat import LOCK_NOT_AVAILABLE, PostgresSeat
from codehub.store.tables import archives, observer_state, orphans, workspaces

_GENERATION = (archives.c.key, archives.c.workspace_id, archives.c.made_at, archives.c.kept)
SOMEBODY_IS_AT_IT = "somebody is just asking for it"

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

Statement = Callable[[], AbstractAsyncContextManager[AsyncConnection]]


class CollectorReads:
    """Over any connections: the leader's own, or those of somebody who only wants to know."""

    def __init__(self, statement: Statement) -> None:
        self._statement = statement

    async def now(self) -> datetime:
        async with self._statement() as connection:
            at: datetime = (await connection.execute(select(func.clock_timestamp()))).scalar_one()
            return at

    async def rows(self, after: UUID | None, limit: int) -> Sequence[Workspace]:
        query = select(*WORKSPACE_COLUMNS).order_by(workspaces.c.id).limit(limit)
        async with self._statement() as connection:
            return await _workspaces(connection, query if after is None else query.where(workspaces.c.id > after))

    async def workspaces(self, ids: Sequence[UUID]) -> Sequence[Workspace]:
        async with self._statement() as connection:
            wanted = workspaces.c.id == func.any(bindparam("ids", list(ids), type_=ARRAY(Uuid)))
            return await _workspaces(connection, select(*WORKSPACE_COLUMNS).where(wanted))

    async def generations(self, workspace_ids: Sequence[UUID]) -> Sequence[Generation]:
        async with self._statement() as connection:
            return await _generations(connection, workspace_ids)

    async def engine(self, kind: str) -> str | None:
        async with self._statement() as connection:
            found: str | None = await connection.scalar(
                select(observer_state.c.engine).where(observer_state.c.kind == kind)
            )
            return found

    async def noted_orphans(self) -> dict[Found, datetime]:
        async with self._statement() as connection:
            rows = await connection.execute(select(orphans))
            return {Found(OrphanKind(row.kind), row.key, row.workspace_id): row.first_seen for row in rows}


class PostgresCollector(CollectorReads):
    def __init__(self, seat: PostgresSeat) -> None:
        super().__init__(seat.statement)
        self._seat = seat

    async def note_orphans(self, found: Sequence[Found]) -> None:
        await self._execute(_NOTE, found)

    async def forget_orphans(self, found: Sequence[Found]) -> None:
        await self._execute(_FORGET, found)

    async def take(self, found: Found, second_look: Callable[[Evidence], str | None]) -> str | None:
        """The row of an archive goes first, and comes back where the look finds a reason: whoever wants to point to an
        archive holds its row until they have, so that one of us waits for the other."""
        async with self._seat.transaction() as connection:
            attempt = await connection.begin_nested()
            try:
                known = await _let_go(connection, found) if found.kind is OrphanKind.ARCHIVE else []
                why = second_look(await _evidence(connection, found, known))
            except DBAPIError as error:
                if getattr(error.orig, "sqlstate", None) != LOCK_NOT_AVAILABLE:
                    raise
                why = SOMEBODY_IS_AT_IT
            if why is None:
                await attempt.commit()
            else:
                await attempt.rollback()
            return why

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


async def _let_go(connection: AsyncConnection, found: Found) -> Sequence[Generation]:
    """Remove the archive's row, and tell what stood in it."""
    rows = await connection.execute(delete(archives).where(archives.c.key == found.key).returning(*_GENERATION))
    return [Generation(*row) for row in rows]


async def _evidence(connection: AsyncConnection, found: Found, known: Sequence[Generation]) -> Evidence:
    """Each read is a statement of its own: it sees what was committed while the one before had to wait."""
    points = or_(workspaces.c.archive_key == found.key, workspaces.c.request["archive_key"].astext == found.key)
    query = select(*WORKSPACE_COLUMNS).where(or_(workspaces.c.id == found.workspace_id, points))
    rows = await _workspaces(connection, query)
    others = await _generations(connection, [row.id for row in rows])
    at: datetime = (await connection.execute(select(func.clock_timestamp()))).scalar_one()
    return Evidence(rows, [*known, *others], at)


async def _workspaces(connection: AsyncConnection, query: Select[tuple[object, ...]]) -> Sequence[Workspace]:
    return [to_workspace(row) for row in await connection.execute(query)]


async def _generations(connection: AsyncConnection, workspace_ids: Sequence[UUID]) -> Sequence[Generation]:
    wanted = archives.c.workspace_id == func.any(bindparam("ids", list(workspace_ids), type_=ARRAY(Uuid)))
    query = select(*_GENERATION).where(wanted).order_by(archives.c.workspace_id, archives.c.generation)
    return [Generation(*row) for row in await connection.execute(query)]
