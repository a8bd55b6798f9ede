"""Answers that are kept for requests which are sent again, because the first answer may have been lost on its way.

The key is claimed in the transaction that does the work: who comes second waits for its end. Where that ends with
nothing done, by a refusal or a crash, the key is free again."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.store.tables import Json, idempotency_keys

KEPT_SECONDS = 24 * 3600
FORGOTTEN_AT_ONCE = 10
"""Expired answers that each new one takes along: more leave than come, and no request waits for many."""

_CLAIM = text("""
    INSERT INTO idempotency_keys AS kept (user_id, key, fingerprint) VALUES (:user_id, :key, :fingerprint)
    ON CONFLICT (user_id, key) DO UPDATE
        SET fingerprint = excluded.fingerprint, status = NULL, headers = NULL, body = NULL,
            created_at = clock_timestamp()
        WHERE kept.created_at < clock_timestamp() - make_interval(secs => :kept_seconds)
    RETURNING true
""")
_FORGET = text("""
    DELETE FROM idempotency_keys WHERE (user_id, key) IN (
        SELECT user_id, key FROM idempotency_keys
        WHERE created_at < clock_timestamp() - make_interval(secs => :kept_seconds)
        ORDER BY created_at LIMIT :most FOR UPDATE SKIP LOCKED
    )
""")


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Kept:
    fingerprint: bytes
    answer: Answer


async def claim(connection: AsyncConnection, user_id: UUID, key: str, fingerprint: bytes) -> Kept | None:
    """None: the key is now this request's. Otherwise what was answered under it. Waits for another that is at it."""
    values = {"user_id": user_id, "key": key, "fingerprint": fingerprint, "kept_seconds": KEPT_SECONDS}
    if (await connection.execute(_CLAIM, values)).first() is not None:
        await connection.execute(_FORGET, {"kept_seconds": KEPT_SECONDS, "most": FORGOTTEN_AT_ONCE})
        return None
    table = idempotency_keys
    query = table.select().where(table.c.user_id == user_id, table.c.key == key)
    row = (await connection.execute(query)).one()
    return Kept(row.fingerprint, Answer(row.status, row.headers, row.body))


async def keep(connection: AsyncConnection, user_id: UUID, key: str, answer: Answer) -> None:
    table = idempotency_keys
    headers: Json = dict(answer.headers)
    await connection.execute(
        table.update()
        .where(table.c.user_id == user_id, table.c.key == key)
        .values(status=answer.status, headers=headers, body=answer.body)
    )
