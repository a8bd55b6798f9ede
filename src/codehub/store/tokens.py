"""API tokens: made, listed, revoked. Of a secret only its hash is stored, and its last characters to tell it by."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID, uuid4

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.model.accounts import Scope
from codehub.store.callers import hashed

MOST = 100
"""Tokens of one user. A program that makes one with every run should be noticed, and a list stays readable."""
HINT_LENGTH = 4


@dataclass(frozen=True, slots=True)
class NewToken:
    user_id: UUID
    secret: str = field(repr=False)
    name: str
    scopes: frozenset[Scope]
    lasts_seconds: int | None
    """None for a token without an end."""


_LOCK = text("SELECT FROM users WHERE id = :user_id FOR NO KEY UPDATE")
_COUNT = text("""
    SELECT count(*) FROM api_tokens
    WHERE user_id = :user_id AND (expires_at IS NULL OR expires_at > clock_timestamp())
""")
_MAKE = text("""
    INSERT INTO api_tokens (id, user_id, name, secret_hash, hint, scopes, expires_at)
    VALUES (:id, :user_id, :name, :secret_hash, :hint, :scopes,
            clock_timestamp() + CAST(:lasts AS interval))
    RETURNING id, name, hint, scopes, created_at, last_used_at, expires_at
""")
_LIST = text("""
    SELECT id, name, hint, scopes, created_at, last_used_at, expires_at FROM api_tokens
    WHERE user_id = :user_id AND (expires_at IS NULL OR expires_at > clock_timestamp()) ORDER BY created_at DESC, id
""")
_REVOKE = text("DELETE FROM api_tokens WHERE user_id = :user_id AND id = :id RETURNING name")
_REVOKE_ALL = text("DELETE FROM api_tokens WHERE user_id = :user_id")
_PRUNE = text("DELETE FROM api_tokens WHERE user_id = :user_id AND expires_at <= clock_timestamp()")


async def make_token(connection: AsyncConnection, new: NewToken) -> RowMapping | None:
    """The new token's row; None where its user has the most that one may have."""
    user = {"user_id": new.user_id}
    await connection.execute(_LOCK, user)
    await connection.execute(_PRUNE, user)
    if (await connection.execute(_COUNT, user)).scalar_one() >= MOST:
        return None
    values = {
        "id": uuid4(),
        "user_id": new.user_id,
        "name": new.name,
        "secret_hash": hashed(new.secret),
        "hint": new.secret[-HINT_LENGTH:],
        "scopes": sorted(new.scopes),
        "lasts": None if new.lasts_seconds is None else timedelta(seconds=new.lasts_seconds),
    }
    return (await connection.execute(_MAKE, values)).mappings().one()


async def list_tokens(connection: AsyncConnection, user_id: UUID) -> Sequence[RowMapping]:
    """Those that are still good, the newest first."""
    return (await connection.execute(_LIST, {"user_id": user_id})).mappings().all()


async def revoke_token(connection: AsyncConnection, user_id: UUID, token_id: UUID) -> str | None:
    """Its name; None where the user has no such token."""
    name: str | None = (await connection.execute(_REVOKE, {"user_id": user_id, "id": token_id})).scalar()
    return name


async def revoke_all(connection: AsyncConnection, user_id: UUID) -> int:
    """How many there were."""
    return (await connection.execute(_REVOKE_ALL, {"user_id": user_id})).rowcount
