"""What the Observer reads and writes: `conditions`, `observed_at` and `observer_state` (contract 3)."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import ColumnElement, Uuid, and_, any_, bindparam, or_, select, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, insert

from codehub.model.workspace import Workspace
from codehub.store.protocols import Listing, Observed
from codehub.store.rows import WORKSPACE_COLUMNS, from_conditions, to_workspace
from codehub.store.seat import PostgresSeat
from codehub.store.tables import observer_state, workspaces
from codehub.store.unsettled import unsettled

# A row that was observed later than this by another look keeps what it has: listings may come back out of order.
_WRITE_CONDITIONS = text("""
    UPDATE workspaces SET conditions = seen.conditions, observed_at = seen.observed_at
    FROM unnest(:ids, :conditions, :observed) AS seen (id, conditions, observed_at)
    WHERE workspaces.id = seen.id
      AND (workspaces.observed_at IS NULL OR workspaces.observed_at < seen.observed_at)
""").bindparams(
    bindparam("ids", type_=ARRAY(Uuid)),
    bindparam("conditions", type_=ARRAY(JSONB)),
    bindparam("observed", type_=ARRAY(workspaces.c.observed_at.type)),
)

# As the index says it: what is bound as a parameter the planner cannot match with an index.
_MAY_HAVE_SOMETHING = or_(
    workspaces.c.home_volume.is_not(None),
    workspaces.c.op_volume.is_not(None),
    workspaces.c.observed_at.is_(None),
    text("operation <> 'NONE'"),
)
_ARCHIVE_UNSEEN = and_(
    workspaces.c.archive_key.is_not(None),
    text("(conditions #>> '{storage.archive_ready,subject}') IS DISTINCT FROM archive_key"),
)


class PostgresObserver:
    def __init__(self, seat: PostgresSeat) -> None:
        self._seat = seat

    async def targets(self, after: UUID | None, limit: int) -> Sequence[Workspace]:
        return await self._page(_MAY_HAVE_SOMETHING, after, limit)

    async def workspaces(self, ids: Sequence[UUID]) -> Sequence[Workspace]:
        query = select(*WORKSPACE_COLUMNS).where(workspaces.c.id == any_(bindparam("ids", type_=ARRAY(Uuid))))
        async with self._seat.statement() as connection:
            return [to_workspace(row) for row in await connection.execute(query, {"ids": list(ids)})]

    async def unsettled(self, after: Workspace | None, limit: int) -> Sequence[Workspace]:
        async with self._seat.statement() as connection:
            return await unsettled(connection, after, limit)

    async def unseen_archives(self, limit: int) -> Sequence[Workspace]:
        return await self._page(_ARCHIVE_UNSEEN, None, limit)

    async def archived(self, after: UUID | None, limit: int) -> Sequence[Workspace]:
        return await self._page(workspaces.c.archive_key.is_not(None), after, limit)

    async def write_conditions(self, batch: Sequence[Observed]) -> int:
        if not batch:
            return 0
        async with self._seat.statement() as connection:
            written = await connection.execute(
                _WRITE_CONDITIONS,
                {
                    "ids": [each.workspace_id for each in batch],
                    "conditions": [from_conditions(each.conditions) for each in batch],
                    "observed": [each.observed_at for each in batch],
                },
            )
            return written.rowcount

    async def record_listing(self, listing: Listing) -> None:
        values = {"kind": listing.kind, "began_at": listing.began_at, "engine": listing.engine}
        async with self._seat.statement() as connection:
            await connection.execute(
                insert(observer_state).values(values).on_conflict_do_update(index_elements=["kind"], set_=values)
            )

    async def listings(self) -> Sequence[Listing]:
        async with self._seat.statement() as connection:
            rows = await connection.execute(select(observer_state).order_by(observer_state.c.kind))
            return [Listing(row.kind, row.began_at, row.engine) for row in rows]

    async def _page(self, which: ColumnElement[bool], after: UUID | None, limit: int) -> Sequence[Workspace]:
        query = select(*WORKSPACE_COLUMNS).where(which).order_by(workspaces.c.id).limit(limit)
        if after is not None:
            query = query.where(workspaces.c.id > after)
        async with self._seat.statement() as connection:
            return [to_workspace(row) for row in await connection.execute(query)]
