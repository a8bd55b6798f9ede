"""The words of a workspace's history: every change of phase, operation or wish, every request and every failure is one
event, so that "why did it stop?" always has an answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from codehub.model.states import Operation, Phase
from codehub.model.workspace import Request


class EventKind(StrEnum):
    CREATED = "created"
    WISH = "wish"
    REQUEST = "request"
    PHASE = "phase"
    OPERATION = "operation"
    FAILURE = "failure"
    DEATH = "death"
    SURPLUS = "surplus"
    HOLD = "hold"
    CLONE = "clone"


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


def surplus_event(container_ids: Sequence[str]) -> list[Event]:
    """Containers that stood beside the one that serves the workspace, and were taken away."""
    return [Event(EventKind.SURPLUS, detail=" ".join(container_ids))] if container_ids else []


def request_event(request: Request, outcome: str, detail: str = "") -> Event:
    return Event(EventKind.REQUEST, after=request.kind, reason=outcome, actor=request.actor, detail=detail)
