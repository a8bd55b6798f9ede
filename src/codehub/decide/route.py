"""What the front door does with a visitor."""

from dataclasses import dataclass
from enum import Enum

from codehub.model.conditions import Endpoint
from codehub.model.states import Operation, Phase
from codehub.model.workspace import Workspace


class Visit(Enum):
    NAVIGATION = "navigation"  # a person opens a page: the only thing that can lead to waking
    OTHER = "other"  # scripts, WebSockets, assets, whatever a tab does by itself


class Answer(Enum):
    WAKING_PAGE = "waking page"
    ERROR_PAGE = "error page"
    LIMIT_PAGE = "limit page"
    UNAVAILABLE = "unavailable"
    NOT_FOUND = "not found"


@dataclass(frozen=True, slots=True)
class Forward:
    endpoint: Endpoint


_ASLEEP = {Visit.NAVIGATION: Answer.WAKING_PAGE, Visit.OTHER: Answer.UNAVAILABLE}
_GONE = {Visit.NAVIGATION: Answer.NOT_FOUND, Visit.OTHER: Answer.NOT_FOUND}

_ANSWER = {
    Phase.PENDING: _ASLEEP,
    Phase.ARCHIVED: _ASLEEP,
    Phase.STANDBY: _ASLEEP,
    Phase.RUNNING: _ASLEEP,  # where it is running but not to be reached: being stopped, or just gone
    Phase.ERROR: {Visit.NAVIGATION: Answer.ERROR_PAGE, Visit.OTHER: Answer.UNAVAILABLE},
    Phase.DELETING: _GONE,
    Phase.DELETED: _GONE,
}


def route(workspace: Workspace | None, visit: Visit, limit_reached: bool) -> Forward | Answer:
    """The table of front-door.md. `workspace` is None for one that is unknown or not the visitor's: both look alike.
    One that is deleted is gone at once, also while its phase has still to follow."""
    if workspace is None or workspace.deleted_at is not None:
        return Answer.NOT_FOUND
    if workspace.phase is Phase.RUNNING and workspace.operation is not Operation.STOPPING:
        container = workspace.conditions.container
        if container is not None and container.endpoint is not None:
            return Forward(container.endpoint)
    answer = _ANSWER[workspace.phase][visit]
    return Answer.LIMIT_PAGE if limit_reached and answer is Answer.WAKING_PAGE else answer
