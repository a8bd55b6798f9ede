"""Codes by which a browser hands on who sits before it: once, and soon. Of a code only its hash is stored."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import bindparam, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.store.callers import hashed

LASTS = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class NewCode:
    user_id: UUID
    secret: str = field(repr=False)
    purpose: str
    detail: Mapping[str, Any]
    lasts: timedelta = LASTS


@dataclass(frozen=True, slots=True)
class Redeemed:
    """Whom a code stood for."""

    user_id: UUID
    login: str
    role: str
    detail: Mapping[str, Any]


_MAKE = text("""
    INSERT INTO login_codes (secret_hash, user_id, purpose, detail, expires_at)
    VALUES (:secret_hash, :user_id, :purpose, :detail, clock_timestamp() + CAST(:lasts AS interval))
""").bindparams(bindparam("detail", type_=JSONB))
_REDEEM = text("""
    DELETE FROM login_codes USING users
    WHERE secret_hash = :secret_hash AND purpose = :purpose AND users.id = user_id
    RETURNING users.id AS user_id, login, role, detail, expires_at > clock_timestamp() AND NOT disabled AS good
""").columns(detail=JSONB)
_PRUNE = text("DELETE FROM login_codes WHERE expires_at <= clock_timestamp()")
_WITHDRAW = text("DELETE FROM login_codes WHERE user_id = :user_id")


async def make_code(connection: AsyncConnection, new: NewCode) -> None:
    await connection.execute(_PRUNE)
    values = {
        "secret_hash": hashed(new.secret),
        "user_id": new.user_id,
        "purpose": new.purpose,
        "detail": dict(new.detail),
        "lasts": new.lasts,
    }
    await connection.execute(_MAKE, values)


async def redeem(connection: AsyncConnection, secret: str, purpose: str) -> Redeemed | None:
    """Use the code up, whatever comes of it. None where it is unknown, used or too old, or its user is disabled."""
    row = (await connection.execute(_REDEEM, {"secret_hash": hashed(secret), "purpose": purpose})).first()
    return Redeemed(row.user_id, row.login, row.role, row.detail) if row is not None and row.good else None


async def withdraw_codes(connection: AsyncConnection, user_id: UUID) -> None:
    await connection.execute(_WITHDRAW, {"user_id": user_id})
