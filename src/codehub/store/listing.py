"""Finding workspaces for people: one, a page of many, and their history. In the driver's own words: most requests end
here."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.model.shown import ShownWorkspace
from codehub.model.states import Desired, ErrorReason, Operation, Phase
from codehub.store.reads import Reads
from codehub.store.shown import SHOWN_SQL, to_shown

_ONE = f"{SHOWN_SQL} WHERE workspaces.id = $1"
_OWN = f"{_ONE} AND workspaces.deleted_at IS NULL AND ($2::uuid IS NULL OR owner_user_id = $2)"
_HISTORY = """
    SELECT id, at, kind, before, after, reason, actor, detail FROM workspace_events
    WHERE workspace_id = $1 AND ($2::bigint IS NULL OR id < $2)
    ORDER BY id DESC LIMIT $3
"""
_OWNER_OF = "SELECT owner_user_id FROM workspaces WHERE id = $1"
_RUNS_AS = "SELECT conditions #>> '{infra.container_ready,subject}' FROM workspaces WHERE id = $1"


@dataclass(frozen=True, slots=True)
class Position:
    """Where a page ended. Nothing that comes or goes meanwhile moves what follows it."""

    created_at: datetime
    id: UUID


class Order(StrEnum):
    NEWEST = "newest"
    NAME = "name"
    USED = "used"


_ORDERS = {
    Order.NEWEST: "workspaces.created_at DESC, workspaces.id DESC",
    Order.NAME: "lower(workspaces.name), workspaces.id",
    Order.USED: "workspaces.last_access_at DESC NULLS LAST, workspaces.id DESC",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which workspaces, in which order. What is empty or None does not narrow."""

    ids: Sequence[UUID] = ()
    owner_user_id: UUID | None = None
    phases: Sequence[Phase] = ()
    desired: Sequence[Desired] = ()
    operations: Sequence[Operation] = ()
    errors: Sequence[ErrorReason] = ()
    template: str | None = None
    """By name or id."""
    words: str = ""
    """Somewhere in the name or the description, in any case."""
    deleted: bool = False
    """Those that were deleted instead of the living ones."""
    after: Position | None = None
    """Of the newest first."""
    order: Order = Order.NEWEST
    skip: int = 0
    limit: int = 50


@dataclass
class _Conditions:
    texts: list[str]
    arguments: list[object] = field(default_factory=list)

    def add(self, text: str, *arguments: object) -> None:
        """Each `{}` is the place of an argument."""
        first = len(self.arguments) + 1
        self.texts.append(text.format(*(f"${number}" for number in range(first, first + len(arguments)))))
        self.arguments += arguments


async def page(reads: Reads, wanted: Wanted) -> list[ShownWorkspace]:
    conditions = _conditions(wanted)
    statement = (
        f"{SHOWN_SQL} WHERE {' AND '.join(conditions.texts)} "
        f"ORDER BY {_ORDERS[wanted.order]} LIMIT ${len(conditions.arguments) + 1}"
    )
    if wanted.skip:
        statement += f" OFFSET {wanted.skip:d}"
    return [to_shown(row) for row in await reads.fetch(statement, *conditions.arguments, wanted.limit)]


async def counts(reads: Reads, wanted: Wanted) -> dict[Phase, int]:
    """How many of those that are wanted are in each phase."""
    conditions = _conditions(wanted)
    statement = (
        "SELECT workspaces.phase, count(*) AS many FROM workspaces "  # noqa: S608 (arguments stay arguments)
        "LEFT JOIN templates ON templates.id = workspaces.template_id "
        f"WHERE {' AND '.join(conditions.texts)} GROUP BY workspaces.phase"
    )
    return {Phase(row["phase"]): row["many"] for row in await reads.fetch(statement, *conditions.arguments)}


def _conditions(wanted: Wanted) -> _Conditions:
    conditions = _Conditions([f"workspaces.deleted_at IS {'NOT NULL' if wanted.deleted else 'NULL'}"])
    if wanted.ids:
        conditions.add("workspaces.id = ANY ({}::uuid[])", list(wanted.ids))
    if wanted.owner_user_id is not None:
        conditions.add("workspaces.owner_user_id = {}", wanted.owner_user_id)
    if wanted.phases:
        conditions.add("workspaces.phase = ANY ({}::text[])", list(wanted.phases))
    if wanted.desired:
        conditions.add("workspaces.desired_state = ANY ({}::text[])", list(wanted.desired))
    if wanted.operations:
        conditions.add("workspaces.operation = ANY ({}::text[])", list(wanted.operations))
    if wanted.errors:
        conditions.add("workspaces.error_reason = ANY ({}::text[])", list(wanted.errors))
    if wanted.template is not None:
        conditions.add("{} IN (templates.name, templates.id::text)", wanted.template)
    if wanted.words:
        sought = "%" + wanted.words.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_") + "%"
        conditions.add("(workspaces.name || chr(10) || workspaces.description) ILIKE {}::text", sought)
    if wanted.after is not None:
        conditions.add("(workspaces.created_at, workspaces.id) < ({}, {})", wanted.after.created_at, wanted.after.id)
    return conditions


async def one(reads: Reads, workspace_id: UUID, owner_user_id: UUID | None) -> ShownWorkspace | None:
    """A living one; of this owner, or for None of anybody."""
    row = await reads.fetchrow(_OWN, workspace_id, owner_user_id)
    return to_shown(row) if row is not None else None


async def one_with(connection: AsyncConnection, workspace_id: UUID) -> ShownWorkspace:
    """As the caller's transaction sees it, deleted or not. It has to be there."""
    found = await connection.exec_driver_sql(_ONE, (workspace_id,))
    return to_shown(dict(found.mappings().one()))


async def owner_of(reads: Reads, workspace_id: UUID) -> UUID | None:
    """Also of a deleted one, as long as its row is kept."""
    owner: UUID | None = await reads.fetchval(_OWNER_OF, workspace_id)
    return owner


async def history(reads: Reads, workspace_id: UUID, before: int | None, limit: int) -> Sequence[dict[str, Any]]:
    """Newest first, from the event before this one on."""
    return [dict(row) for row in await reads.fetch(_HISTORY, workspace_id, before, limit)]


async def instance_of(reads: Reads, workspace_id: UUID) -> str | None:
    """The container that was last seen of it."""
    instance: str | None = await reads.fetchval(_RUNS_AS, workspace_id)
    return instance
