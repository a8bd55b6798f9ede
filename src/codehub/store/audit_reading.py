"""Reading the audit log, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, RowMapping, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.store.tables import audit_log


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which entries: all those that fit, older than the last one of the page before."""

    actor: str = ""
    action: str = ""
    """A whole action, or the first of its words: `user` finds `user.disable`."""
    subject_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
    before: int | None = None


async def read(connection: AsyncConnection, wanted: Wanted, limit: int) -> Sequence[RowMapping]:
    found = select(audit_log).where(*_guards(wanted)).order_by(audit_log.c.id.desc()).limit(limit)
    return (await connection.execute(found)).mappings().all()


def _guards(wanted: Wanted) -> list[ColumnElement[bool]]:
    entry = audit_log.c
    asked: list[tuple[object, ColumnElement[bool]]] = [
        (wanted.actor, func.lower(entry.actor) == wanted.actor.lower()),
        (
            wanted.action,
            (entry.action == wanted.action) | entry.action.startswith(f"{wanted.action}.", autoescape=True),
        ),
        (wanted.subject_id, entry.subject_id == wanted.subject_id),
        (wanted.since, entry.at >= wanted.since),
        (wanted.until, entry.at < wanted.until),
        (wanted.before, entry.id < wanted.before),
    ]
    return [guard for value, guard in asked if value not in {None, ""}]
