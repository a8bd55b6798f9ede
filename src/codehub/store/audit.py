"""The audit log: who did what, and from where.

An entry is added in the transaction of what it tells of: nothing is done untold, and nothing told that was not done."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.store.tables import audit_log


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts. `name` stays readable when the account is gone; without a `user_id` nobody has proven to be them."""

    user_id: UUID | None
    name: str
    address: str = ""
    request_id: str = ""


async def record(
    connection: AsyncConnection,
    actor: Actor,
    action: str,
    *,
    subject_id: UUID | None = None,
    subject: str = "",
    **detail: object,
) -> None:
    """Add an entry. `action` is dotted words (`workspace.create`), `detail` JSON values that hold no secret."""
    await connection.execute(
        insert(audit_log).values(
            actor_user_id=actor.user_id,
            actor=actor.name,
            action=action,
            subject_id=subject_id,
            subject=subject,
            address=actor.address,
            request_id=actor.request_id,
            detail=detail,
        )
    )
