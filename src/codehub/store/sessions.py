"""Browser sessions: opened by a login, listed, ended one by one or together. Of a secret only its hash is stored."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID, uuid4

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.settings.groups import AuthConfig
from codehub.store.callers import hashed

MOST = 50
"""Sessions of one user; a login beyond that ends the one that was not used for longest."""


@dataclass(frozen=True, slots=True)
class NewSession:
    user_id: UUID
    secret: str = field(repr=False)
    address: str
    user_agent: str


_OPEN = text("""
    INSERT INTO sessions (id, user_id, secret_hash, address, user_agent, expires_at)
    VALUES (:id, :user_id, :secret_hash, :address, :user_agent,
            clock_timestamp() + CAST(:lasts AS interval))
""")
_PRUNE = text("""
    DELETE FROM sessions WHERE user_id = :user_id AND (expires_at <= clock_timestamp() OR id IN (
        SELECT id FROM sessions WHERE user_id = :user_id ORDER BY last_used_at DESC, id OFFSET :most
    ))
""")
_LIST = text("""
    SELECT id, address, user_agent, created_at, last_used_at, expires_at FROM sessions
    WHERE user_id = :user_id AND expires_at > clock_timestamp() ORDER BY last_used_at DESC, id
""")
_END = text("DELETE FROM sessions WHERE user_id = :user_id AND id = :id")
_END_BY_SECRET = text("DELETE FROM sessions WHERE secret_hash = :secret_hash")
_END_OTHERS = text("DELETE FROM sessions WHERE user_id = :user_id AND id IS DISTINCT FROM :kept")


async def open_session(connection: AsyncConnection, new: NewSession, auth: AuthConfig) -> UUID:
    await connection.execute(_PRUNE, {"user_id": new.user_id, "most": MOST - 1})
    session_id = uuid4()
    values = {
        "id": session_id,
        "user_id": new.user_id,
        "secret_hash": hashed(new.secret),
        "address": new.address,
        "user_agent": new.user_agent,
        "lasts": timedelta(seconds=min(auth.session_idle_seconds, auth.session_max_seconds)),
    }
    await connection.execute(_OPEN, values)
    return session_id


async def list_sessions(connection: AsyncConnection, user_id: UUID) -> Sequence[RowMapping]:
    """Those that are still good, the last used first."""
    return (await connection.execute(_LIST, {"user_id": user_id})).mappings().all()


async def end_session(connection: AsyncConnection, user_id: UUID, session_id: UUID) -> bool:
    """False where the user has no such session."""
    return (await connection.execute(_END, {"user_id": user_id, "id": session_id})).rowcount > 0


async def end_by_secret(connection: AsyncConnection, secret: str) -> None:
    await connection.execute(_END_BY_SECRET, {"secret_hash": hashed(secret)})


async def end_all(connection: AsyncConnection, user_id: UUID, *, but: UUID | None = None) -> int:
    """How many there were."""
    return (await connection.execute(_END_OTHERS, {"user_id": user_id, "kept": but})).rowcount
