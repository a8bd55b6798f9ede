"""What the front door has to know of workspaces: whose they are, and where each is reached. Read often, so short."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

import asyncpg
import orjson

from codehub.model.conditions import CONDITION_NAMES
from codehub.model.states import Desired, Operation, Phase
from codehub.model.workspace import Workspace
from codehub.store.reads import Reads
from codehub.store.rows import to_conditions

_CONTAINER = CONDITION_NAMES["container"]
_ROUTES = f"""
    SELECT workspaces.id, owner_user_id, workspaces.name, workspaces.created_at, desired_state, phase, operation,
           deleted_at, conditions -> '{_CONTAINER}' AS container, coalesce(strip_prefix, true) AS strip_prefix
    FROM workspaces LEFT JOIN templates ON templates.id = template_id
    WHERE workspaces.id = ANY ($1::uuid[])
"""  # noqa: S608 (our own words)
_NAMED = "SELECT id FROM workspaces WHERE owner_user_id = $1 AND lower(name) = lower($2) AND deleted_at IS NULL LIMIT 2"


@dataclass(frozen=True, slots=True)
class Routed:
    workspace: Workspace
    """Only what a route is decided by."""
    strips_prefix: bool
    """Whether it wants to be asked as if it lay at the root of its origin, also where it does not."""


async def routes_of(reads: Reads, workspace_ids: Collection[UUID]) -> dict[UUID, Routed]:
    """Deleted ones too, as long as there is a row."""
    rows = await reads.fetch(_ROUTES, list(workspace_ids))
    return {UUID(int=row["id"].int): _routed(row) for row in rows}


async def named(reads: Reads, owner_user_id: UUID, name: str) -> UUID | None:
    """The one workspace of this owner that is called so, in capitals or not: domain names know no difference."""
    rows = await reads.fetch(_NAMED, owner_user_id, name)
    return rows[0]["id"] if len(rows) == 1 else None


def _routed(row: asyncpg.Record) -> Routed:
    container = orjson.loads(row["container"] or "null")
    workspace = Workspace(
        id=row["id"],
        owner_user_id=row["owner_user_id"],
        name=row["name"],
        created_at=row["created_at"],
        desired_state=Desired(row["desired_state"]),
        deleted_at=row["deleted_at"],
        conditions=to_conditions({_CONTAINER: container} if container is not None else {}),
        phase=Phase(row["phase"]),
        operation=Operation(row["operation"]),
    )
    return Routed(workspace, row["strip_prefix"])
