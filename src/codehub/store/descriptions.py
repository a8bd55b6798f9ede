"""What an owner says of a workspace: changed in one statement, with the version that they have seen as its guard."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.model.shown import ShownWorkspace
from codehub.store.reads import Reads
from codehub.store.shown import SHOWN_SQL, to_shown

DESCRIBED = ("name", "description", "memo", "standby_after_seconds", "archive_after_seconds")
"""The columns that a person may write anew."""


@dataclass(frozen=True, slots=True)
class Description:
    """New words for a workspace. Only where its revision is one of these, if any are named."""

    workspace_id: UUID
    columns: Mapping[str, object]
    revisions: Collection[int] | None = None
    owner_user_id: UUID | None = None
    """Only where it is theirs; None for whoever may change everybody's."""


async def describe(reads: Reads, new: Description) -> ShownWorkspace | None:
    """None, and nothing is written, where it is not there, not theirs, deleted, or was changed meanwhile. Raises
    asyncpg's UniqueViolationError where the owner has another one of this name."""
    row = await reads.fetchrow(_statement(tuple(sorted(new.columns))), *_arguments(new))
    return to_shown(row) if row is not None else None


async def describe_with(connection: AsyncConnection, new: Description) -> ShownWorkspace | None:
    """The same, as a part of the caller's transaction."""
    found = await connection.exec_driver_sql(_statement(tuple(sorted(new.columns))), tuple(_arguments(new)))
    row = found.mappings().first()
    return to_shown(dict(row)) if row is not None else None


@cache
def _statement(columns: tuple[str, ...]) -> str:
    """The changed row takes the table's name in the query that shows it. Few exist: one for each set of columns."""
    assert set(columns) <= set(DESCRIBED)  # noqa: S101 (names, never values, become part of the statement)
    written = ", ".join(f"{column} = ${number}" for number, column in enumerate(columns, 4))
    changed = f"""
        UPDATE workspaces SET {written or "name = name"}
        WHERE id = $1 AND deleted_at IS NULL
          AND ($2::uuid IS NULL OR owner_user_id = $2)
          AND ($3::bigint[] IS NULL OR revision = ANY ($3))
        RETURNING *
    """  # noqa: S608
    return f"WITH workspaces AS ({changed}) {SHOWN_SQL}"


def _arguments(new: Description) -> list[object]:
    revisions = list(new.revisions) if new.revisions is not None else None
    return [new.workspace_id, new.owner_user_id, revisions, *(new.columns[column] for column in sorted(new.columns))]
