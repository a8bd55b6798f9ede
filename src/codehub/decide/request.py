"""Requests that are more than a wish: recover, restore a generation, start empty, fork."""

from codehub.decide.judge import broken_invariant
from codehub.decide.view import View, view
from codehub.model.conditions import Status
from codehub.model.plans import Answer, Begin, Dismiss
from codehub.model.states import ErrorReason, Operation, Phase, Step
from codehub.model.workspace import Request, RequestKind, Workspace

HOME_IS_LOST = (ErrorReason.DATA_LOST, ErrorReason.ARCHIVE_CORRUPTED)


def answer(workspace: Workspace, request: Request, phase: Phase, seen: View) -> Answer | Begin | Dismiss | None:
    """What a request leads to while no operation is under way. None: it waits until the present home has been put
    away, which the ordinary plan does next."""
    match request.kind:
        case RequestKind.RECOVER:
            return _recover(workspace, request, phase, seen)
        case RequestKind.START_EMPTY:
            return _start_empty(workspace, request, phase, seen)
        case RequestKind.RESTORE:
            return _restore(workspace, request, phase, seen)
        case RequestKind.FORK:
            return _fork(workspace, request)


def _recover(workspace: Workspace, request: Request, phase: Phase, seen: View) -> Answer | Begin | Dismiss:
    """Judge again from what is seen. A container without its volume is taken away first: it would only be found
    broken again."""
    if phase is not Phase.ERROR:
        return Dismiss(request, "it is not in ERROR")
    if seen.container.is_there and (seen.volume_lost or workspace.home_volume is None):
        return Begin(Operation.STOPPING, Step.STOP, consumes=request)
    return Answer(request, workspace.home_volume, workspace.archive_key)


def _start_empty(workspace: Workspace, request: Request, phase: Phase, seen: View) -> Answer | Dismiss:
    """Only a lost home may be replaced by an empty one, and only by its owner's own word."""
    if _is_lost(workspace, phase, seen):
        return Answer(request, home_volume=None, archive_key=None)
    return Dismiss(request, "its home is not lost")


def _restore(workspace: Workspace, request: Request, phase: Phase, seen: View) -> Answer | Dismiss | None:
    if request.archive_key is None:
        return Dismiss(request, "it names no generation")
    if workspace.home_volume is None or _is_lost(workspace, phase, seen):
        return Answer(request, home_volume=None, archive_key=request.archive_key)
    if phase is Phase.ERROR and workspace.error_reason is not None:
        return Answer(request, workspace.home_volume, workspace.archive_key, done=False)
    return None


def home_is_lost(workspace: Workspace) -> bool:
    """Whether its owner can give it up, as the row says."""
    return _is_lost(workspace, workspace.phase, view(workspace))


def _is_lost(workspace: Workspace, phase: Phase, seen: View) -> bool:
    """Whether the home is gone. A volume that has come back since is the home again: nobody gives that up."""
    if phase is not Phase.ERROR or (workspace.home_volume is not None and seen.volume is Status.TRUE):
        return False
    return workspace.error_reason in HOME_IS_LOST or broken_invariant(workspace, seen) in HOME_IS_LOST


def _fork(workspace: Workspace, request: Request) -> Answer | Dismiss:
    if request.archive_key is None:
        return Dismiss(request, "it names no generation")
    if workspace.home_volume is not None or workspace.archive_key is not None:
        return Dismiss(request, "it has a home of its own already")
    return Answer(request, home_volume=None, archive_key=request.archive_key)
