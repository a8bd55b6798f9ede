"""Reading the audit log, newest first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
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


_ENTRY = audit_log.c
_GUARDS: Mapping[str, Callable[[Any], ColumnElement[bool]]] = {
    "actor": lambda name: func.lower(_ENTRY.actor) == name.lower(),
    "action": lambda word: (_ENTRY.action == word) | _ENTRY.action.startswith(f"{word}.", autoescape=True),
    "subject_id": lambda subject_id: _ENTRY.subject_id == subject_id,
    "since": lambda moment: _ENTRY.at >= moment,
    "until": lambda moment: _ENTRY.at < moment,
    "before": lambda number: _ENTRY.id < number,
}


async def read(connection: AsyncConnection, wanted: Wanted, limit: int) -> Sequence[RowMapping]:
    asked = {name: getattr(wanted, name) for name in _GUARDS}
    guards = [_GUARDS[name](value) for name, value in asked.items() if value not in {None, ""}]
    found = select(audit_log).where(*guards).order_by(audit_log.c.id.desc()).limit(limit)
    return (await connection.execute(found)).mappings().all()
