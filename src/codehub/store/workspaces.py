"""Looking workspaces up, for people."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.model.shown import ShownWorkspace
from codehub.model.workspace import Workspace
from codehub.store.rows import WORKSPACE_COLUMNS, to_workspace
from codehub.store.shown import SHOWN, to_shown
from codehub.store.tables import templates, users, workspace_events, workspaces


async def living(connection: AsyncConnection) -> Sequence[ShownWorkspace]:
    """All that are not deleted, by name."""
    query = SHOWN.where(workspaces.c.deleted_at.is_(None)).order_by(workspaces.c.name, workspaces.c.id)
    return [to_shown(row) for row in (await connection.execute(query)).mappings()]


async def workspace(connection: AsyncConnection, workspace_id: UUID) -> Workspace | None:
    row = (await connection.execute(select(*WORKSPACE_COLUMNS).where(workspaces.c.id == workspace_id))).first()
    return to_workspace(row) if row is not None else None


async def history(connection: AsyncConnection, workspace_id: UUID) -> Sequence[dict[str, object]]:
    query = select(workspace_events).where(workspace_events.c.workspace_id == workspace_id)
    rows = await connection.execute(query.order_by(workspace_events.c.id))
    return [dict(row) for row in rows.mappings()]


async def template_ids(connection: AsyncConnection) -> dict[str, UUID]:
    return {row.name: row.id for row in await connection.execute(select(templates.c.name, templates.c.id))}


async def first_administrator(connection: AsyncConnection) -> UUID | None:
    query = select(users.c.id).where(users.c.role == "admin").order_by(users.c.created_at, users.c.id).limit(1)
    found: UUID | None = (await connection.execute(query)).scalar()
    return found
