"""Holds: what keeps a workspace awake while something runs in it that nobody watches.

Each change is written under the lock of the workspace's row, which also tells of the hold that lasts longest: whoever
puts idle ones to sleep under the same lock cannot miss one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.model.activity import Kind
from codehub.store.reads import Reads

MOST = 50
"""Of one workspace. A program that makes one with every run and never lets go should be noticed."""


@dataclass(frozen=True, slots=True)
class Hold:
    id: UUID
    workspace_id: UUID
    reason: str
    made_by: str
    made_at: datetime
    ends_at: datetime


_COLUMNS = "id, workspace_id, reason, made_by, made_at, ends_at"
_NEW = text(f"""
    INSERT INTO holds ({_COLUMNS})
    VALUES (:id, :workspace_id, :reason, :made_by, statement_timestamp(),
            statement_timestamp() + :seconds * interval '1 second')
    RETURNING {_COLUMNS}
""")  # noqa: S608 (words of this module, as below)
_RENEW = text(f"""
    UPDATE holds SET ends_at = greatest(ends_at, least(
        statement_timestamp() + :seconds * interval '1 second', made_at + nullif(:ceiling, 0) * interval '1 second'))
    WHERE id = :id AND workspace_id = :workspace_id
    RETURNING {_COLUMNS}
""")  # noqa: S608
_LET_GO = text("DELETE FROM holds WHERE id = :id AND workspace_id = :workspace_id RETURNING reason")
_FORGET_ENDED = text("DELETE FROM holds WHERE workspace_id = :workspace_id AND ends_at < statement_timestamp()")
_COUNT = text("SELECT count(*) FROM holds WHERE workspace_id = :workspace_id")
_SHOW_LONGEST = text("""
    UPDATE workspaces SET (held_until, hold_reason) = (
        SELECT ends_at, reason FROM holds
        WHERE workspace_id = workspaces.id AND ends_at > statement_timestamp()
        ORDER BY ends_at DESC, id LIMIT 1)
    WHERE id = :workspace_id
""")
_TELL = text("""
    INSERT INTO workspace_events (workspace_id, kind, after, actor, detail)
    VALUES (:workspace_id, 'hold', :what, :actor, :reason)
""")
_EXTEND = text("""
    UPDATE workspaces SET last_access_at = greatest(last_access_at, clock_timestamp()), last_activity = :kind
    WHERE id = :workspace_id AND phase = 'RUNNING' AND desired_state = 'RUNNING'
""")
_OF_WORKSPACE = f"""
    SELECT {_COLUMNS} FROM holds WHERE workspace_id = $1 AND ends_at > clock_timestamp() ORDER BY ends_at DESC, id
"""  # noqa: S608


class TooMany(Exception):
    """There are as many as one workspace may have."""


async def hold(connection: AsyncConnection, workspace_id: UUID, reason: str, made_by: str, seconds: int) -> Hold:
    """In a transaction that has the workspace's row. Raises TooMany."""
    which = {"workspace_id": workspace_id}
    await connection.execute(_FORGET_ENDED, which)
    if (await connection.execute(_COUNT, which)).scalar_one() >= MOST:
        raise TooMany
    values = {"id": uuid4(), "reason": reason, "made_by": made_by, "seconds": float(seconds), **which}
    made = (await connection.execute(_NEW, values)).mappings().one()
    await connection.execute(_SHOW_LONGEST, which)
    await connection.execute(_TELL, {"what": "placed", "actor": made_by, "reason": reason, **which})
    return Hold(**made)


async def renew(
    connection: AsyncConnection, workspace_id: UUID, hold_id: UUID, seconds: int, ceiling_seconds: int
) -> Hold | None:
    """For so long from now on, but no longer than the ceiling from its beginning on, and never shorter than before.
    None where there is no such hold."""
    which = {"workspace_id": workspace_id}
    values = {"id": hold_id, "seconds": float(seconds), "ceiling": float(ceiling_seconds), **which}
    renewed = (await connection.execute(_RENEW, values)).mappings().first()
    await connection.execute(_SHOW_LONGEST, which)
    return Hold(**renewed) if renewed is not None else None


async def let_go(connection: AsyncConnection, workspace_id: UUID, hold_id: UUID, actor: str) -> str | None:
    """Its reason; None where there is no such hold."""
    which = {"workspace_id": workspace_id}
    reason: str | None = (await connection.execute(_LET_GO, {"id": hold_id, **which})).scalar()
    await connection.execute(_SHOW_LONGEST, which)
    if reason is not None:
        await connection.execute(_TELL, {"what": "released", "actor": actor, "reason": reason, **which})
    return reason


async def extend(connection: AsyncConnection, workspace_id: UUID) -> bool:
    """As if it were used now. False where it is not running, or shall not be."""
    values = {"workspace_id": workspace_id, "kind": Kind.EXTENSION}
    return (await connection.execute(_EXTEND, values)).rowcount == 1


async def holds_of(reads: Reads, workspace_id: UUID) -> Sequence[Hold]:
    """Those that last, the longest first."""
    return [Hold(**row) for row in await reads.fetch(_OF_WORKSPACE, workspace_id)]
