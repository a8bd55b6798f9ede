"""A workspace as people see it: in the API, in events, on pages and in the command line."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from codehub.model.activity import Kind
from codehub.model.plans import Waiting
from codehub.model.states import Desired, ErrorReason, ImageState, Operation, Phase, Service, Step
from codehub.model.workspace import RequestKind


@dataclass(frozen=True, slots=True)
class ShownArchive:
    """The archive that the files of a workspace come back from."""

    number: int
    made_at: datetime
    size: int
    entries: int


@dataclass(frozen=True, slots=True)
class Restorable:
    """The archives that an owner can choose from where the present files are lost."""

    count: int
    newest: datetime


@dataclass(frozen=True, slots=True)
class ShownWorkspace:
    """What is read of a workspace for people, with the names of its owner and its template."""

    id: UUID
    owner_user_id: UUID
    owner_login: str
    name: str
    description: str
    memo: str
    template_id: UUID | None
    template_name: str | None
    image: ImageState | None
    """Whether what the template runs is there; None without a template."""
    git_url: str | None
    resources: Mapping[str, object]
    desired_state: Desired
    desired_reason: str
    desired_by: str | None
    request: RequestKind | None
    phase: Phase
    phase_changed_at: datetime
    operation: Operation
    op_id: UUID | None
    op_step: Step | None
    op_started_at: datetime | None
    op_attempt: int
    error_reason: ErrorReason | None
    error_count: int
    next_attempt_at: datetime | None
    deaths: int
    """How often its IDE ended by itself of late."""
    standby_after_seconds: int | None
    """The idle time that was chosen for it, by its owner or by its template; None for everybody's."""
    archive_after_seconds: int | None
    standby_override_seconds: int | None
    """The owner's own choice."""
    archive_override_seconds: int | None
    last_access_at: datetime | None
    last_activity: Kind | None
    """What it was last used for, as far as that is known."""
    held_until: datetime | None
    """When the hold that lasts longest ends, or ended."""
    hold_reason: str | None
    created_at: datetime
    updated_at: datetime
    revision: int
    deleted_at: datetime | None
    archive: ShownArchive | None
    """The newest one that was proven whole; for a fork at first that of its source."""
    restorable: Restorable | None
    """Without the archive that is itself what was lost. Known only of those in ERROR, where it matters."""


@dataclass(frozen=True, slots=True)
class Live:
    """What the controller is doing about a workspace at this moment. Worth nothing later, so never in the database."""

    stage: str
    """The step that is under way, or `wait`."""
    op_id: UUID | None = None
    """The operation it belongs to; it says nothing about any other. None: about one that is yet to begin."""
    bytes: int | None = None
    total: int | None = None
    rate: float | None = None
    """Bytes per second."""
    eta: float | None = None
    """Seconds that are left, at this rate."""
    waiting: Waiting | None = None
    service: Service | None = None
    """Which one is waited for."""
    entries: int | None = None
    """Files, folders and links that are done, where a home is moved."""


class Action(StrEnum):
    """What an owner can do about a workspace."""

    START = "start"
    STOP = "stop"
    ARCHIVE = "archive"
    RECOVER = "recover"
    RESTORE = "restore"
    START_EMPTY = "start_empty"
    EXTEND = "extend"
    HOLD = "hold"
    CHANGE_IDLE_TIME = "change_idle_time"
    DELETE = "delete"
    UNDELETE = "undelete"


class Next(StrEnum):
    """What happens by itself, if nobody does anything."""

    RUN = "run"
    STOP = "stop"
    SLEEP = "sleep"
    ARCHIVE = "archive"
    RETRY = "retry"
    RESUME = "resume"
    ANSWER_REQUEST = "answer_request"
    EXAMINE = "examine"
    DELETE = "delete"
    FORGET = "forget"


@dataclass(frozen=True, slots=True)
class Because:
    """Who or what asked for the present wish, in a word: owner, idle, wake, admin, limit."""

    reason: str
    by: str | None


@dataclass(frozen=True, slots=True)
class Doing:
    operation: Operation
    step: Step | None
    since: datetime | None
    attempt: int
    progress: Live | None


@dataclass(frozen=True, slots=True)
class WhatNext:
    what: Next
    at: datetime | None
    """When; None: as soon as it can be."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a workspace is as it is. `code` and `params` say the same as `summary`, for pages in other languages."""

    code: str
    params: Mapping[str, object]
    summary: str
    since: datetime
    because: Because
    doing: Doing | None
    next: WhatNext | None
    would_change: tuple[Action, ...]
