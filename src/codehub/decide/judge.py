"""From what was seen to the phase, and to the invariant that is broken if one is."""

from codehub.decide.view import Container, View, view
from codehub.model.conditions import Status
from codehub.model.states import Desired, ErrorReason, Operation, Phase, Step
from codehub.model.workspace import RequestKind, Workspace

TERMINAL_REASONS = frozenset(
    {
        ErrorReason.TIMEOUT,
        ErrorReason.RETRY_EXCEEDED,
        ErrorReason.IMAGE_PULL_FAILED,
        ErrorReason.CONTAINER_WITHOUT_VOLUME,
        ErrorReason.DATA_LOST,
        ErrorReason.ARCHIVE_CORRUPTED,
    }
)
"""Faults that no further attempt mends. The others end by count."""

_ARCHIVE_HOLDS_HOME = (Step.VERIFIED, Step.RELEASE, Step.RELEASED)
_ARCHIVE_IS_NOT_THE_HOME = (Step.UPLOAD, Step.UPLOADED, Step.RESTORED)
"""Steps at which the archive is not yet, or no longer, what the home would be lost with."""


def is_terminal(error_reason: ErrorReason | None, error_count: int, max_retries: int) -> bool:
    """Whether the recorded error ends in ERROR. Clearing both columns by hand is a recovery like any other."""
    return error_reason in TERMINAL_REASONS or (error_reason is not None and error_count >= max_retries)


def broken_invariant(workspace: Workspace, seen: View) -> ErrorReason | None:
    """The rule that what was seen breaks (contracts 6 and 8); also the content of `policy.healthy`.

    Nothing is broken where the remedy is under way: a deletion removes whatever is left, and STOPPING removes a
    container that stands without its volume."""
    if workspace.deleted_at is not None or workspace.operation is Operation.STOPPING:
        return None
    if workspace.home_volume is None:
        if seen.container.is_there:
            return ErrorReason.CONTAINER_WITHOUT_VOLUME
        return None if workspace.op_step in _ARCHIVE_IS_NOT_THE_HOME else seen.archive_loss
    if not seen.volume_lost:
        return None
    if seen.container.is_there:
        return ErrorReason.CONTAINER_WITHOUT_VOLUME
    if _archived_by_this_operation(workspace) and seen.archive is Status.TRUE:
        return None  # a whole copy exists, and nothing could write to the home since it was made
    return ErrorReason.DATA_LOST


def _archived_by_this_operation(workspace: Workspace) -> bool:
    return workspace.operation is Operation.ARCHIVING and workspace.op_step in _ARCHIVE_HOLDS_HOME


def judge(workspace: Workspace, max_retries: int) -> Phase:
    """The phase that follows from the row; first match wins (lifecycle.md).

    Where the needed condition is Unknown the workspace stays what it was, as far as the row's own memory agrees:
    nobody falls out of RUNNING because a listing failed, but a container that was seen not to answer ends it. ERROR is
    for rows at rest only (contract 4): what breaks under way ends the operation first."""
    seen = view(workspace)
    if workspace.deleted_at is not None:
        return Phase.DELETED if _is_let_go(workspace) and nothing_left(workspace, seen) else Phase.DELETING
    if workspace.operation is Operation.NONE and (
        is_terminal(workspace.error_reason, workspace.error_count, max_retries)
        or broken_invariant(workspace, seen) is not None
    ):
        return Phase.ERROR
    if workspace.home_volume is None:
        return Phase.PENDING if workspace.archive_key is None else Phase.ARCHIVED
    if seen.volume is Status.TRUE and seen.container is Container.READY:
        return Phase.RUNNING
    may_run_on = seen.container in (Container.READY, Container.UNKNOWN)
    return Phase.RUNNING if may_run_on and workspace.phase is Phase.RUNNING else Phase.STANDBY


def _is_let_go(workspace: Workspace) -> bool:
    """Whether the row names no home any more. One that does, of whatever came in between, is deleted to its end: who
    undeletes it would be promised a home that is gone."""
    return workspace.operation is Operation.NONE and workspace.current_volume is None


def nothing_left(workspace: Workspace, seen: View) -> bool:
    """No container, no volume: what DELETED means. Archives do not count; the collector has its own clock."""
    return seen.container is Container.NONE and (workspace.current_volume is None or seen.volume is Status.FALSE)


def wish(workspace: Workspace) -> Desired:
    """What the plan works towards: the owner's wish, or ARCHIVED while a living home makes room for an older
    generation that the owner asked for (its present state is archived first, so that nothing is lost)."""
    if workspace.deleted_at is not None:
        return Desired.DELETED
    asked = workspace.request
    if asked is not None and asked.kind is RequestKind.RESTORE and workspace.home_volume is not None:
        return Desired.ARCHIVED
    return workspace.desired_state
