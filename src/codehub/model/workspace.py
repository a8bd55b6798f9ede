"""One workspace as its row describes it: the snapshot that every decision is made from."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID, uuid5

from codehub.model.conditions import Conditions
from codehub.model.states import Desired, ErrorReason, Operation, Phase, Step


class RequestKind(StrEnum):
    """What an owner can ask for beyond a wish."""

    RECOVER = "recover"
    RESTORE = "restore"
    START_EMPTY = "start_empty"
    FORK = "fork"


@dataclass(frozen=True, slots=True)
class Request:
    """Written by the API, consumed by the controller in the transaction that acts on it (contract 3)."""

    kind: RequestKind
    id: UUID
    actor: str
    archive_key: str | None = None
    """The generation to take, for restore and fork."""


@dataclass(frozen=True, slots=True)
class Workspace:
    id: UUID
    owner_user_id: UUID
    name: str
    created_at: datetime

    # The wish: written by the API and those who act through it.
    desired_state: Desired
    template_id: UUID | None = None
    deleted_at: datetime | None = None
    request: Request | None = None
    last_access_at: datetime | None = None
    standby_after_seconds: int | None = None
    archive_after_seconds: int | None = None
    git_url: str | None = None
    """The repository that its home begins with."""
    resources: Mapping[str, float] = field(default_factory=dict, hash=False)
    """What it may use, where that differs from its template."""

    # What was seen: written by the Observer.
    conditions: Conditions = field(default_factory=Conditions)
    observed_at: datetime | None = None

    # What follows and what is done: written by the WorkspaceController.
    phase: Phase = Phase.PENDING
    phase_changed_at: datetime | None = None
    operation: Operation = Operation.NONE
    op_id: UUID | None = None
    op_started_at: datetime | None = None
    op_clock_at: datetime | None = None
    """When the clock of the present attempt began; an image pull and a wait for a shared service do not run on it."""
    op_step: Step | None = None
    op_attempt: int = 0
    op_volume: str | None = None
    """The volume an operation makes or lets go of. Never a home, and never set together with `home_volume`."""
    acted_at: datetime | None = None
    """When the last act on containers or volumes ended. What a look begun earlier saw of them proves nothing."""
    home_volume: str | None = None
    archive_key: str | None = None
    archive_op_id: UUID | None = None
    restore_marker: str | None = None
    sent: Mapping[str, int | str] | None = field(default=None, hash=False)
    """What the archive that is being made amounts to, counted while it was sent: what it is verified against."""
    error_reason: ErrorReason | None = None
    error_count: int = 0
    next_attempt_at: datetime | None = None
    recent_deaths: tuple[datetime, ...] = ()
    """When its IDE died after it had been ready, newest last; for telling a mishap from a crash loop."""
    judged_at: datetime | None = None

    @property
    def current_volume(self) -> str | None:
        """The one volume that a look at this workspace is about."""
        return self.home_volume or self.op_volume

    @property
    def judged_by_a_change(self) -> datetime | None:
        """Up to which look the row counts as judged once a decision has changed it. Where surplus containers were seen,
        it does not: they are seen to when it rests."""
        container = self.conditions.container
        return None if container is not None and container.surplus else self.observed_at


def incarnation_name(workspace_id: UUID, op_id: UUID, attempt: int) -> str:
    """A name that no other life of a container or volume ever had, so that a late act cannot hit a newer one
    (contract 11)."""
    return f"ws-{workspace_id.hex}-{op_id.hex[:12]}-{attempt}"


def workspace_of(name: str) -> UUID | None:
    """Whose incarnation bears this name; None for any other name."""
    found = re.fullmatch(r"ws-([0-9a-f]{32})-[0-9a-f]{12}-\d+", name)
    return UUID(found[1]) if found else None


def attempted_archive(op_id: UUID, attempt: int) -> UUID:
    """The `archive_op_id` of an attempt to make an archive. Each has its own: what a failed one has left is never
    taken for the archive of the next, and whatever of it acts late writes elsewhere (contract 11)."""
    return op_id if attempt == 1 else uuid5(op_id, str(attempt))


def archive_key(workspace_id: UUID, archive_op_id: UUID) -> str:
    """The same pair names the same archive (contract 7)."""
    return f"{workspace_id}/{archive_op_id}/home.tar.zst"
