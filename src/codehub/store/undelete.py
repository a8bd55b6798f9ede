"""Takes a deletion back."""

from typing import Any

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.model.states import Desired, Operation
from codehub.model.workspace import Workspace
from codehub.store.events import tell
from codehub.store.history import Event, EventKind
from codehub.store.rows import WORKSPACE_COLUMNS, to_workspace
from codehub.store.tables import workspaces
from codehub.store.wishes import Because


async def undelete(
    connection: AsyncConnection, workspace: Workspace, desired: Desired, because: Because, name: str
) -> Workspace | None:
    """None where it lives, or its home is being taken away at this moment: what comes back has to be known before.
    Raises IntegrityError where the owner has another one of this name meanwhile."""
    values: dict[str, Any] = {
        "deleted_at": None,
        "name": name,
        "desired_state": desired,
        "desired_reason": because.reason,
        "desired_by": because.by,
    }
    back = (
        update(workspaces)
        .where(
            workspaces.c.id == workspace.id,
            workspaces.c.deleted_at.is_not(None),
            workspaces.c.operation != Operation.DELETING,
        )
        .values(values)
        .returning(*WORKSPACE_COLUMNS)
        .cte("back")
    )
    event = Event(EventKind.WISH, Desired.DELETED, desired, because.reason, because.by)
    row = (await connection.execute(select(back).add_cte(back, tell(back, [event])))).first()
    return to_workspace(row) if row is not None else None
