"""The twins of the table's triggers: whom a change concerns, and what else it moves."""

from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from codehub.model.states import Phase
from codehub.model.workspace import Workspace
from codehub.store.protocols import Channel

_shown = attrgetter(
    "phase",
    "operation",
    "error_reason",
    "desired_state",
    "name",
    "request",
    "op_step",
    "op_attempt",
    "error_count",
    "next_attempt_at",
    "recent_deaths",
    "template_id",
    "standby_after_seconds",
    "archive_after_seconds",
    "last_access_at",
)
"""As far as a decision needs them too."""


@dataclass(frozen=True, slots=True)
class Touched:
    """Columns that no decision needs, but people see."""

    desired_reason: str
    desired_by: str | None
    revision: int
    updated_at: datetime


def notified(before: Workspace | None, after: Workspace) -> list[Channel]:
    """The channels on which a change of the row is told (coordination.md)."""
    if before is None:
        return [Channel.SSE, Channel.WAKE]
    undeleted = before.deleted_at is not None and after.deleted_at is None
    shows = after.deleted_at is None and (undeleted or _shown(before) != _shown(after))
    asks = after.request is not None and after.request != before.request
    cleared = after.phase is Phase.ERROR and after.error_reason is None and before.error_reason is not None
    wakes = _wished(before) != _wished(after) or asks or cleared
    deletes = before.deleted_at is None and after.deleted_at is not None
    told = {Channel.SSE: shows, Channel.WAKE: wakes, Channel.DELETED: deletes}
    return [channel for channel, is_told in told.items() if is_told]


def is_revision(before: Workspace, after: Workspace) -> bool:
    return (before.name, *_wished(before)) != (after.name, *_wished(after))


def _wished(row: Workspace) -> tuple[object, ...]:
    return row.desired_state, row.deleted_at
