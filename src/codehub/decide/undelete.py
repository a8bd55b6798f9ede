"""Whether a deleted workspace can be brought back, until when, and as what."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from codehub.model.shown import ShownWorkspace
from codehub.model.states import Desired, Operation
from codehub.model.workspace import Workspace


@dataclass(frozen=True, slots=True)
class BringBack:
    rests_as: Desired
    """What it is if nobody asks for more: what it lies in now."""


@dataclass(frozen=True, slots=True)
class BeingDeleted:
    """Its home is being taken away at this moment. In a moment it is known what is left."""


@dataclass(frozen=True, slots=True)
class NothingLeft:
    """Its home is gone, and there is no archive of it."""


@dataclass(frozen=True, slots=True)
class TooLate:
    """What is left of it belongs to the collector."""


def consider_undelete(
    workspace: Workspace, window: timedelta, now: datetime
) -> BringBack | BeingDeleted | NothingLeft | TooLate:
    """Of a deleted one. Where its deletion has not got as far as its home, that comes back just as it is; otherwise its
    files come back from the archive, and never an empty home in their place."""
    if workspace.deleted_at is None or now - workspace.deleted_at >= window:
        return TooLate()
    if workspace.operation is Operation.DELETING:
        return BeingDeleted()
    if workspace.home_volume is not None:
        return BringBack(Desired.STANDBY)
    return BringBack(Desired.ARCHIVED) if workspace.archive_key is not None else NothingLeft()


def undo_until(workspace: ShownWorkspace, window: timedelta) -> datetime | None:
    """What is promised of a deleted one; None where it cannot be brought back for sure."""
    if workspace.deleted_at is None or not undelete_seconds(workspace, window):
        return None
    return workspace.deleted_at + window


def undelete_seconds(workspace: ShownWorkspace, window: timedelta) -> int:
    """For how long after its deletion; 0 for not at all. Told before, so that nobody deletes what they still want."""
    return int(window.total_seconds()) if workspace.archive is not None else 0
