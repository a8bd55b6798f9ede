"""The archives of a workspace, as its owner sees them: listed, chosen and kept.

The WorkspaceController makes the rows and the collector ends them. What stands in `kept` is the owner's own word, which
nobody else writes (contract 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.model.workspace import Workspace
from codehub.store.rows import WORKSPACE_COLUMNS, to_workspace
from codehub.store.tables import archives, workspaces


@dataclass(frozen=True, slots=True)
class Archive:
    id: UUID
    workspace_id: UUID
    number: int
    key: str
    size: int
    sha256: str
    entries: int
    made_at: datetime
    verified_at: datetime
    kept: bool


async def owned(connection: AsyncConnection, workspace_id: UUID, owner_user_id: UUID | None) -> Workspace | None:
    """Of this owner, or for None of anybody; also a deleted one, as long as its row is there."""
    query = select(*WORKSPACE_COLUMNS).where(workspaces.c.id == workspace_id)
    if owner_user_id is not None:
        query = query.where(workspaces.c.owner_user_id == owner_user_id)
    row = (await connection.execute(query)).first()
    return to_workspace(row) if row is not None else None


async def archives_of(connection: AsyncConnection, workspace: Workspace) -> Sequence[Archive]:
    """Newest first. For a fork that of its source is among them, as long as it stands on it."""
    theirs = or_(archives.c.workspace_id == workspace.id, archives.c.key == workspace.archive_key)
    query = select(archives).where(theirs).order_by(archives.c.made_at.desc(), archives.c.id.desc())
    return [_archive(row) for row in await connection.execute(query)]


async def chosen(connection: AsyncConnection, workspace: Workspace, archive_id: UUID | None) -> Archive | None:
    """The archive of this id, or the current one. Until the end of the transaction nobody takes it away, so that what
    is written about it there is true."""
    which = archives.c.key == workspace.archive_key
    if archive_id is not None:
        which = (archives.c.id == archive_id) & or_(archives.c.workspace_id == workspace.id, which)
    row = (await connection.execute(select(archives).where(which).with_for_update(read=True))).first()
    return _archive(row) if row is not None else None


async def keep(connection: AsyncConnection, archive_id: UUID, *, kept: bool) -> None:
    """Whether it stays however many newer ones there are."""
    await connection.execute(update(archives).where(archives.c.id == archive_id).values(kept=kept))


async def concerned(connection: AsyncConnection, found: Sequence[Archive]) -> Sequence[Workspace]:
    """The workspaces that these archives were made for, stand on one of them, or have asked for one."""
    keys = [each.key for each in found]
    query = select(*WORKSPACE_COLUMNS).where(
        or_(
            workspaces.c.id.in_({each.workspace_id for each in found}),
            workspaces.c.archive_key.in_(keys),
            workspaces.c.request["archive_key"].astext.in_(keys),
        )
    )
    return [to_workspace(row) for row in await connection.execute(query)]


def _archive(row: Row[Any]) -> Archive:
    return Archive(
        id=row.id,
        workspace_id=row.workspace_id,
        number=row.generation,
        key=row.key,
        size=row.size,
        sha256=row.checksum.removeprefix("sha256:"),
        entries=row.entries,
        made_at=row.made_at,
        verified_at=row.verified_at,
        kept=row.kept,
    )
