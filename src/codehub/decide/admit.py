"""Whether one more workspace may run."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from codehub.decide.wish import rests_in_error
from codehub.model.states import Desired
from codehub.model.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Limits:
    per_user: int
    in_all: int


@dataclass(frozen=True, slots=True)
class Admitted:
    pass


@dataclass(frozen=True, slots=True)
class Refused:
    limit: int
    running: tuple[UUID, ...]
    """The owner's own running workspaces, for them to choose which to stop. Others' are nobody's business."""
    everybody: bool
    """Whether it is the limit of the whole installation that is reached."""


def takes_a_place(workspace: Workspace) -> bool:
    """Counted by the wish, not by what runs at the moment: otherwise many wishes at once would slip through. One that
    rests in ERROR takes none, until its recovery is asked for."""
    return workspace.deleted_at is None and workspace.desired_state is Desired.RUNNING and not rests_in_error(workspace)


def admit(workspace_id: UUID, own: Sequence[UUID], running_in_all: int, limits: Limits) -> Admitted | Refused:
    """Called in the transaction that writes the wish, with what takes a place at that moment; one that has its place
    already is always admitted."""
    if workspace_id in own:
        return Admitted()
    if len(own) >= limits.per_user:
        return Refused(limits.per_user, tuple(own), everybody=False)
    if running_in_all >= limits.in_all:
        return Refused(limits.in_all, tuple(own), everybody=True)
    return Admitted()
