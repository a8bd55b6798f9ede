"""What the API writes of a workspace, and those who act through it: wishes and requests (contract 3).

Each function runs in the caller's transaction, so that a limit checked there holds for the wish written there."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.model.states import Desired
from codehub.model.workspace import Request, Workspace
from codehub.store.events import tell
from codehub.store.history import Event, EventKind, request_event
from codehub.store.rows import WORKSPACE_COLUMNS, from_request, to_workspace
from codehub.store.tables import workspaces


@dataclass(frozen=True, slots=True)
class Because:
    """Why a wish was changed, and by whom; the owner reads it in the history."""

    reason: str
    by: str | None = None


@dataclass(frozen=True, slots=True)
class NewWorkspace:
    id: UUID
    owner_user_id: UUID
    name: str
    template_id: UUID | None = None
    description: str = ""
    memo: str = ""
    git_url: str | None = None
    resources: Mapping[str, float] = field(default_factory=dict)
    """What it may use at most, where that differs from its template."""
    standby_after_seconds: int | None = None
    archive_after_seconds: int | None = None


async def create_workspace(
    connection: AsyncConnection, new: NewWorkspace, desired: Desired, because: Because
) -> Workspace:
    values = {
        **asdict(new),
        "desired_state": desired,
        "desired_reason": because.reason,
        "desired_by": because.by,
    }
    created = insert(workspaces).values(values).returning(*WORKSPACE_COLUMNS).cte("created")
    event = Event(EventKind.CREATED, after=desired, reason=because.reason, actor=because.by)
    return to_workspace((await connection.execute(select(created).add_cte(created, tell(created, [event])))).one())


async def held(connection: AsyncConnection, workspace_id: UUID) -> Workspace | None:
    """The row as it is, deleted or not, and until the end of the transaction nobody else changes it."""
    query = select(*WORKSPACE_COLUMNS).where(workspaces.c.id == workspace_id)
    row = (await connection.execute(query.with_for_update(key_share=True))).first()
    return to_workspace(row) if row is not None else None


async def wish(
    connection: AsyncConnection, workspace: Workspace, desired: Desired, because: Because
) -> Workspace | None:
    """Change what is wanted. None where it was deleted meanwhile; a deletion is not undone by a wish. What is wanted
    already is not written again: nothing has changed, and the history would say that something had."""
    values: dict[str, Any] = {"desired_state": desired, "desired_reason": because.reason, "desired_by": because.by}
    if desired is Desired.DELETED:
        values |= {"deleted_at": func.clock_timestamp()}
    event = Event(EventKind.WISH, workspace.desired_state, desired, because.reason, because.by)
    changed = await _change(connection, workspace.id, values, event, workspaces.c.desired_state != desired)
    if changed is not None:
        return changed
    unchanged = await held(connection, workspace.id)
    return unchanged if unchanged is not None and unchanged.deleted_at is None else None


async def place_request(connection: AsyncConnection, workspace: Workspace, request: Request) -> Workspace | None:
    """Ask for more than a wish. None where it was deleted, or another request is still to be answered."""
    values = {"request": from_request(request)}
    event = request_event(request, "asked")
    return await _change(connection, workspace.id, values, event, workspaces.c.request.is_(None))


async def _change(
    connection: AsyncConnection, workspace_id: UUID, values: dict[str, Any], event: Event, *guards: ColumnElement[bool]
) -> Workspace | None:
    changed = (
        update(workspaces)
        .where(workspaces.c.id == workspace_id, workspaces.c.deleted_at.is_(None), *guards)
        .values(values)
        .returning(*WORKSPACE_COLUMNS)
        .cte("changed")
    )
    row = (await connection.execute(select(changed).add_cte(changed, tell(changed, [event])))).first()
    return to_workspace(row) if row is not None else None
