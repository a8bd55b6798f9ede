"""The rows that want a decision: the one question that is asked in every pass, answered from one small index."""

from collections.abc import Sequence

from sqlalchemy import Boolean, ColumnElement, literal_column, select, text, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.model.states import Desired
from codehub.model.workspace import Workspace
from codehub.store.rows import WORKSPACE_COLUMNS, to_workspace
from codehub.store.tables import workspaces

# As the index says them: what is bound as a parameter the planner cannot match with an index.
_UNSETTLED = text("NOT settled")
_UNHURRIED: ColumnElement[bool] = literal_column("(desired_state <> 'RUNNING')", Boolean)


async def unsettled(
    connection: AsyncConnection, after: Workspace | None, limit: int, *whose: ColumnElement[bool]
) -> Sequence[Workspace]:
    """A page of them, those that people wait for first; the next one begins after `after`."""
    query = select(*WORKSPACE_COLUMNS).where(_UNSETTLED, *whose).order_by(_UNHURRIED, workspaces.c.id).limit(limit)
    if after is not None:
        place = after.desired_state is not Desired.RUNNING, after.id
        query = query.where(tuple_(_UNHURRIED, workspaces.c.id) > place)
    return [to_workspace(row) for row in await connection.execute(query)]
