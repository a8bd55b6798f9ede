"""The history of a workspace: every change of phase, operation or wish and every failure is one row, written in the
statement that makes the change, so that "why did it stop?" always has an answer."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from enum import StrEnum

from sqlalchemy import CTE, insert, literal, select, union_all

from codehub.model.states import Operation, Phase
from codehub.store.tables import workspace_events


class EventKind(StrEnum):
    CREATED = "created"
    WISH = "wish"
    REQUEST = "request"
    PHASE = "phase"
    OPERATION = "operation"
    FAILURE = "failure"
    DEATH = "death"


@dataclass(frozen=True, slots=True)
class Event:
    kind: EventKind
    before: str | None = None
    after: str | None = None
    reason: str | None = None
    actor: str | None = None
    detail: str = ""


def phase_event(before: Phase, after: Phase) -> list[Event]:
    return [] if before is after else [Event(EventKind.PHASE, before, after)]


def operation_event(before: Operation, after: Operation, reason: str | None = None) -> list[Event]:
    return [] if before is after else [Event(EventKind.OPERATION, before, after, reason)]


def tell(changed: CTE, events: Sequence[Event]) -> CTE:
    """Write the events of the row that `changed` holds; none where its guard held nothing."""
    columns = [field.name for field in fields(Event)]
    stories = [select(changed.c.id, *(literal(value) for value in astuple(event))) for event in events]
    return insert(workspace_events).from_select(["workspace_id", *columns], union_all(*stories)).cte("told")
