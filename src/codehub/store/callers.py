"""From the secret that a request carries to the one who makes it. Read with nearly every request, so kept short: one
statement on a connection of its own pool, and remembered by the caller of this module for a moment."""

import hashlib
from datetime import datetime
from uuid import UUID

import asyncpg

from codehub.model.accounts import INCLUDED, Caller, Proof, Role, Scope
from codehub.store.reads import Reads

TOUCH_SECONDS = 60
"""How exact "last used" is. A write with every request would cost more than everything else together."""

_SESSION_OF = """
    SELECT users.id AS user_id, login, role, max_running, locale, sessions.id AS proof_id, expires_at,
           sessions.last_used_at < clock_timestamp() - make_interval(secs => $2) AS stale
    FROM sessions JOIN users ON users.id = user_id
    WHERE secret_hash = $1 AND expires_at > clock_timestamp() AND NOT disabled
"""
_BEARER = """
    SELECT users.id AS user_id, login, role, max_running, locale, api_tokens.id AS proof_id, expires_at, scopes,
           coalesce(api_tokens.last_used_at < clock_timestamp() - make_interval(secs => $2), true) AS stale
    FROM api_tokens JOIN users ON users.id = user_id
    WHERE secret_hash = $1 AND (expires_at IS NULL OR expires_at > clock_timestamp()) AND NOT disabled
"""
_TOUCH_SESSION = """
    UPDATE sessions
    SET last_used_at = clock_timestamp(),
        expires_at = least(clock_timestamp() + make_interval(secs => $2), created_at + make_interval(secs => $3))
    WHERE id = $1
    RETURNING expires_at
"""
_TOUCH_BEARER = "UPDATE api_tokens SET last_used_at = clock_timestamp() WHERE id = $1"
_WATERMARK = "SELECT value FROM access_watermark"


def hashed(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


async def by_session(reads: Reads, secret: str, idle_seconds: float, max_seconds: float) -> Caller | None:
    """Whose session this is; using it pushes its end forward, up to its longest life."""
    row = await reads.fetchrow(_SESSION_OF, hashed(secret), TOUCH_SECONDS)
    if row is None:
        return None
    expires_at = row["expires_at"]
    if row["stale"]:
        expires_at = await reads.fetchval(_TOUCH_SESSION, row["proof_id"], idle_seconds, max_seconds)
    scopes = INCLUDED[Scope.ADMIN if row["role"] == Role.ADMIN else Scope.WORKSPACES]
    return _caller(row, Proof.SESSION, scopes, expires_at)


async def by_token(reads: Reads, secret: str) -> Caller | None:
    row = await reads.fetchrow(_BEARER, hashed(secret), TOUCH_SECONDS)
    if row is None:
        return None
    if row["stale"]:
        await reads.execute(_TOUCH_BEARER, row["proof_id"])
    scopes = frozenset().union(*(INCLUDED[Scope(each)] for each in row["scopes"]))
    return _caller(row, Proof.TOKEN, scopes, row["expires_at"])


async def watermark(reads: Reads) -> int:
    """Changes whenever somebody may do less than before."""
    value: int = await reads.fetchval(_WATERMARK)
    return value


def _caller(row: asyncpg.Record, proof: Proof, scopes: frozenset[Scope], expires_at: datetime | None) -> Caller:
    user_id: UUID = row["user_id"]
    return Caller(
        user_id=user_id,
        login=row["login"],
        role=Role(row["role"]),
        max_running=row["max_running"],
        locale=row["locale"],
        proof=proof,
        proof_id=row["proof_id"],
        scopes=scopes,
        expires_at=expires_at,
    )
