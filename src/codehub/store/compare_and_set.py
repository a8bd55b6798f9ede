"""How the controller changes a row: only if it is still the row that was decided on."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, func, literal_column, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.decide.order import TICK
from codehub.model.workspace import Workspace
from codehub.store.events import tell
from codehub.store.history import Event
from codehub.store.rows import WORKSPACE_COLUMNS, to_workspace
from codehub.store.tables import workspaces

NOW = func.clock_timestamp()
ACTED = func.greatest(NOW, workspaces.c.observed_at + TICK)
"""When an act ended: later than all that was seen before, also where the clock was set back since."""

_CHANGED = tuple(literal_column(f"changed.{each.name}", each.type).label(each.name) for each in WORKSPACE_COLUMNS)
"""Made once: that a CTE makes its columns anew for each statement is most of what a transition costs."""


async def compare_and_set(
    connection: AsyncConnection,
    workspace: Workspace,
    values: dict[str, Any],
    story: Sequence[Event],
    *guards: ColumnElement[bool],
) -> Workspace | None:
    """Write values and story where operation, step, attempt and phase are those of the snapshot and the guards hold.
    None, and nothing is written, where they are not."""
    return await change(
        connection,
        workspace.id,
        {"judged_at": workspace.judged_by_a_change, **values},
        story,
        workspaces.c.operation == workspace.operation,
        workspaces.c.op_id.is_not_distinct_from(workspace.op_id),
        workspaces.c.op_step.is_not_distinct_from(workspace.op_step),
        workspaces.c.op_attempt == workspace.op_attempt,
        workspaces.c.phase == workspace.phase,
        *guards,
    )


async def change(
    connection: AsyncConnection,
    workspace_id: UUID,
    values: dict[str, Any],
    story: Sequence[Event],
    *guards: ColumnElement[bool],
) -> Workspace | None:
    """Write values and story in one statement, where the guards hold: for what has happened, whatever the row says."""
    written = (
        update(workspaces).where(workspaces.c.id == workspace_id, *guards).values(values).returning(*WORKSPACE_COLUMNS)
    )
    if story:
        changed = written.cte("changed")
        found = await connection.execute(select(*_CHANGED).select_from(changed).add_cte(changed, tell(changed, story)))
    else:
        found = await connection.execute(written)
    row = found.first()
    return to_workspace(row) if row is not None else None
