"""What may be believed of a row's conditions at this moment."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from codehub.model.conditions import Condition, Conditions, Reason, Status
from codehub.model.states import ErrorReason, Step
from codehub.model.workspace import Workspace

CONFIRM_LOSS_AFTER = timedelta(seconds=2)
"""Two whole observations at least this far apart must agree before a home is called lost."""

ARCHIVE_JUST_STORED = (Step.VERIFIED, Step.UPLOADED)
"""Steps that wait until the archive is seen, as it is since its key was stored."""

_LOSS = {Reason.ARCHIVE_MISSING: ErrorReason.DATA_LOST, Reason.ARCHIVE_MISMATCH: ErrorReason.ARCHIVE_CORRUPTED}


class Container(Enum):
    """What is known of the workspace's container."""

    UNKNOWN = "unknown"
    NONE = "none"
    READY = "ready"
    UNREADY = "unready"  # it runs, but does not answer, or holds another volume than the home
    EXITED = "exited"

    @property
    def is_there(self) -> bool:
        return self in (Container.READY, Container.UNREADY, Container.EXITED)


_CONTAINER = {
    Reason.CONTAINER_RUNNING: Container.READY,
    Reason.CONTAINER_STARTING: Container.UNREADY,
    Reason.PROBE_FAILING: Container.UNREADY,
    Reason.CONTAINER_DISPLACED: Container.UNREADY,
    Reason.CONTAINER_EXITED: Container.EXITED,
    Reason.CONTAINER_NOT_FOUND: Container.NONE,
}


@dataclass(frozen=True, slots=True)
class View:
    volume: Status
    """Whether the current volume exists. A row that names none has none: that needs no look."""
    volume_lost: bool
    """The home was there, and two looks agree that it is gone."""
    archive: Status
    archive_loss: ErrorReason | None
    container: Container
    surplus: tuple[str, ...] | None
    """Containers beside the one that speaks for the workspace. None: there were some before the last act."""


def view(workspace: Workspace) -> View:
    return view_of(workspace, workspace.conditions)


def view_of(workspace: Workspace, conditions: Conditions) -> View:
    """Read the conditions with the two rules of lifecycle.md: a condition about another subject than the row's
    current one, or from a look begun before the last act had ended, counts as Unknown."""
    volume = _current(conditions.volume, workspace.current_volume, workspace.acted_at)
    archive_not_before = workspace.acted_at if workspace.op_step in ARCHIVE_JUST_STORED else None
    archive = _current(conditions.archive, workspace.archive_key, archive_not_before)
    return View(
        volume=_status(volume, workspace.current_volume),
        volume_lost=workspace.home_volume is not None and _lasting_absence(volume),
        archive=_status(archive, workspace.archive_key),
        archive_loss=_LOSS.get(archive.reason) if archive and _lasting_absence(archive) else None,
        container=_container(conditions.container, workspace.acted_at),
        surplus=_surplus(conditions.container, workspace.acted_at),
    )


def _container(condition: Condition | None, not_before: datetime | None) -> Container:
    if condition is None or condition.status is Status.UNKNOWN or not _recent(condition, not_before):
        return Container.UNKNOWN
    return _CONTAINER[condition.reason]


def _surplus(condition: Condition | None, not_before: datetime | None) -> tuple[str, ...] | None:
    if condition is None or not condition.surplus:
        return ()
    return condition.surplus if _recent(condition, not_before) else None


def _current(condition: Condition | None, subject: str | None, not_before: datetime | None) -> Condition | None:
    """The condition, if it is about the row's current subject and young enough."""
    if condition is None or subject is None or condition.subject != subject or not _recent(condition, not_before):
        return None
    return condition


def _recent(condition: Condition, not_before: datetime | None) -> bool:
    return not_before is None or condition.observed_from >= not_before


def _status(condition: Condition | None, subject: str | None) -> Status:
    if subject is None:
        return Status.FALSE
    return condition.status if condition else Status.UNKNOWN


def _lasting_absence(condition: Condition | None) -> bool:
    return (
        condition is not None
        and condition.status is Status.FALSE
        and condition.observed_from - condition.last_transition_time >= CONFIRM_LOSS_AFTER
    )
