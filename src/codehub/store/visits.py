"""Visits: a browser's right to one workspace, handed over from its session by a code that is used once."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from codehub.store.callers import TOUCH_SECONDS, hashed
from codehub.store.reads import Reads

PURPOSE = "workspace"
"""Of the codes that begin a visit."""
MOST = 4
"""Visits of one session to one workspace. A browser that lost its cookie begins another."""

# One statement: the code is used up whatever comes of it, and nobody can use it a second time meanwhile.
_ENTER = """
    WITH used AS (
        DELETE FROM login_codes WHERE secret_hash = $1 AND purpose = $5
        RETURNING user_id, detail, expires_at > clock_timestamp() AS good
    ), old AS (
        DELETE FROM visits WHERE id IN (
            SELECT visits.id FROM visits JOIN used ON session_id = CAST(detail ->> 'session_id' AS uuid)
            WHERE workspace_id = $2 ORDER BY created_at DESC OFFSET $6
        )
    )
    INSERT INTO visits (secret_hash, session_id, workspace_id)
    SELECT $4, sessions.id, $2
    FROM used JOIN sessions ON sessions.id = CAST(detail ->> 'session_id' AS uuid) AND sessions.user_id = used.user_id
    WHERE good AND detail ->> 'workspace_id' = CAST($2 AS text) AND detail ->> 'challenge' = ANY ($3::text[])
    RETURNING id
"""
_VISIT = """
    SELECT visits.workspace_id, sessions.id AS session_id, users.id AS user_id, login, expires_at,
           sessions.last_used_at < clock_timestamp() - make_interval(secs => $2) AS stale
    FROM visits JOIN sessions ON sessions.id = session_id JOIN users ON users.id = sessions.user_id
    WHERE visits.secret_hash = $1 AND expires_at > clock_timestamp() AND NOT disabled
"""
_TOUCH = """
    UPDATE sessions
    SET last_used_at = clock_timestamp(),
        expires_at = least(clock_timestamp() + make_interval(secs => $2), created_at + make_interval(secs => $3))
    WHERE id = $1
    RETURNING expires_at
"""


@dataclass(frozen=True, slots=True)
class Visit:
    workspace_id: UUID
    session_id: UUID
    user_id: UUID
    login: str
    expires_at: datetime


async def enter(reads: Reads, code: str, challenges: Collection[str], workspace_id: UUID, secret: str) -> bool:
    """Begin a visit under this secret. False where the code is unknown, used or too old, or made for another workspace
    or another browser."""
    arguments = (hashed(code), workspace_id, list(challenges), hashed(secret), PURPOSE, MOST - 1)
    return await reads.fetchval(_ENTER, *arguments) is not None


async def by_secret(reads: Reads, secret: str, idle_seconds: float, max_seconds: float) -> Visit | None:
    """Whose visit this is. Working in a workspace is a use of the session, and pushes its end forward."""
    row = await reads.fetchrow(_VISIT, hashed(secret), TOUCH_SECONDS)
    if row is None:
        return None
    expires_at = row["expires_at"]
    if row["stale"]:
        expires_at = await reads.fetchval(_TOUCH, row["session_id"], idle_seconds, max_seconds) or expires_at
    return Visit(row["workspace_id"], row["session_id"], row["user_id"], row["login"], expires_at)
