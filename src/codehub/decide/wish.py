"""What becomes of a wish that somebody brings forward."""

from dataclasses import dataclass

from codehub.model.states import Desired, Phase
from codehub.model.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Unchanged:
    """It is wished already: nothing is written."""


@dataclass(frozen=True, slots=True)
class Write:
    needs_place: bool
    """Whether it asks for a place to run in, which there must be."""


@dataclass(frozen=True, slots=True)
class InError:
    """It rests in ERROR: nothing would come of the wish until somebody recovers it."""


def consider(workspace: Workspace, desired: Desired) -> Unchanged | Write | InError:
    if desired is Desired.RUNNING and rests_in_error(workspace):
        return InError()
    if workspace.desired_state is desired:
        return Unchanged()
    return Write(needs_place=desired is Desired.RUNNING)


def rests_in_error(workspace: Workspace) -> bool:
    """Whether it waits for a person. One whose recovery was asked for, or whose error was cleared, is on its way."""
    return workspace.phase is Phase.ERROR and workspace.error_reason is not None and workspace.request is None


def is_carried_out(workspace: Workspace, desired: Desired) -> bool:
    """Whether nothing is left to do for this wish."""
    return workspace.phase.value == desired.value and workspace.op_step is None and workspace.request is None
