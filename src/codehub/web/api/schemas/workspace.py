"""A workspace, as the interface describes it. `decide/show.py` makes it; a test holds the two together."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from codehub.decide.situations import Code
from codehub.model.activity import Kind
from codehub.model.plans import Waiting
from codehub.model.shown import Action, Next
from codehub.model.states import Desired, ErrorReason, Operation, Phase, Service, Step
from codehub.model.workspace import RequestKind

_WHEN = "2026-03-02T14:05:00+00:00"
_WHEN_ARCHIVED = "2026-03-01T08:30:00+00:00"
_ID = "0b7c1c2e-5f0e-4c44-9f1c-6c1a2f6f3d10"


class _Shown(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Owner(_Shown):
    id: UUID = Field(description="The account that it belongs to.")
    login: str = Field(description="The name of that account.")


class TemplateName(_Shown):
    id: UUID = Field(description="The template that it was made from.")
    name: str = Field(description="The name of that template.")


class Progress(_Shown):
    """The newest word of whoever works on it; what is not known is null."""

    stage: str = Field(description="The step that is under way, or `wait`.")
    op_id: UUID | None = Field(description="The operation that it belongs to; null before one has begun.")
    bytes: int | None = Field(description="Bytes that are done.")
    total: int | None = Field(description="Bytes in all, as far as known.")
    rate: float | None = Field(description="Bytes per second.")
    eta: float | None = Field(description="Seconds that are left, at this rate.")
    waiting: Waiting | None = Field(description="What is waited for.")
    service: Service | None = Field(description="The service that is waited for, where it is one.")
    entries: int | None = Field(description="Files, folders and links that are done, where a home is moved.")


class OperationUnderWay(_Shown):
    name: Operation = Field(description="What is being done.")
    step: Step | None = Field(description="How far it is.")
    started_at: datetime | None = Field(description="Since when.")
    attempt: int = Field(description="The how manieth attempt it is.", ge=0)
    progress: Progress | None = Field(description="Bytes and rate where they are known.")


class Trouble(_Shown):
    reason: ErrorReason = Field(description="What went wrong, in a word.")
    count: int = Field(description="Failures in a row.", ge=0)
    next_attempt_at: datetime | None = Field(description="When it is tried again; null for not by itself, or at once.")
    sentence: str = Field(description="What went wrong, in a sentence.")


class IdleTimes(_Shown):
    """The idle times in force, whoever chose them: the owner, the template or the administrator. 0 is never."""

    standby_after_seconds: int = Field(description="Unused for this long, it is stopped.", ge=0)
    archive_after_seconds: int = Field(description="Stopped for this long, its files move to the archive.", ge=0)


class ArchiveInUse(_Shown):
    """The archive that its files come back from."""

    number: int = Field(description="Which generation it is.", ge=1)
    made_at: datetime = Field(description="When it was made: as they were then, its files come back.")
    size: int = Field(description="Bytes, compressed.", ge=0)
    entries: int = Field(description="Files, folders and links.", ge=0)


class WorkspaceHold(_Shown):
    """It keeps the workspace awake until then. One that is over keeps it awake no longer."""

    reason: str = Field(description="What for.")
    until: datetime = Field(description="When it ends, or ended.")


class Reason(_Shown):
    reason: str = Field(description="`owner`, `idle`, `wake`, `admin`, `limit`, or `error`.")
    by: str | None = Field(description="Who asked, where it was a person.")


class UnderWay(_Shown):
    operation: Operation = Field(description="What is being done.")
    step: Step | None = Field(description="How far it is.")
    since: datetime | None = Field(description="Since when.")
    attempt: int = Field(description="The how manieth attempt it is.", ge=0)
    progress: Progress | None = Field(description="Bytes and rate where they are known.")


class Coming(_Shown):
    what: Next = Field(description="What happens by itself, if nobody does anything.")
    at: datetime | None = Field(description="When; null for as soon as it can be.")


class Explanation(_Shown):
    """Why it is as it is. All times are absolute: it stays true until something changes."""

    code: Code = Field(description="The situation. Stable: `code` and `params` say what `summary` says.")
    params: dict[str, Any] = Field(description="What the sentence of this code names: times, words, numbers.")
    summary: str = Field(description="The whole in English, for its owner.", min_length=1)
    since: datetime = Field(description="Since when it is so.")
    because: Reason = Field(description="Who or what asked for it.")
    doing: UnderWay | None = Field(description="What is being done; null for nothing.")
    next: Coming | None = Field(description="What comes by itself; null for nothing.")
    would_change: list[Action] = Field(description="What its owner can do about it.")


class Workspace(_Shown):
    """One workspace, whole: the same in answers and in events."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": _ID,
                    "owner": {"id": "3f0e4c1a-7d52-4a4f-9a0e-0d3b0a5f6c11", "login": "ada"},
                    "name": "garden",
                    "description": "The shop's new front",
                    "memo": "",
                    "template": {"id": "8f4e3c52-1e0b-4a7f-8a8e-2f9c7d1b6a55", "name": "code-server"},
                    "git_url": None,
                    "resources": {},
                    "desired_state": "STANDBY",
                    "desired_reason": "idle",
                    "desired_by": None,
                    "phase": "STANDBY",
                    "phase_changed_at": _WHEN,
                    "operation": None,
                    "request": None,
                    "error": None,
                    "standby_after_seconds": None,
                    "archive_after_seconds": None,
                    "idle": {"standby_after_seconds": 600, "archive_after_seconds": 86400},
                    "archive": {"number": 3, "made_at": _WHEN_ARCHIVED, "size": 73400320, "entries": 12345},
                    "last_access_at": "2026-03-02T13:54:00+00:00",
                    "last_activity": "terminal_output",
                    "hold": None,
                    "created_at": "2026-02-27T09:00:00+00:00",
                    "updated_at": _WHEN,
                    "deleted_at": None,
                    "undo_until": None,
                    "undelete_seconds": 604800,
                    "revision": 4,
                    "url": "https://0b7c1c2e5f0e4c449f1c6c1a2f6f3d10.dev.example.org/",
                    "explanation": {
                        "code": "stopped",
                        "params": {"since": _WHEN, "last_used": "2026-03-02T13:54:00+00:00"},
                        "summary": "Stopped since 2026-03-02 14:05 UTC, because nobody used it after 2026-03-02 13:54"
                        " UTC. Start it to go on; its files are kept. Its files move to the archive at 2026-03-03 14:05"
                        " UTC, unless it is started before.",
                        "since": _WHEN,
                        "because": {"reason": "idle", "by": None},
                        "doing": None,
                        "next": {"what": "archive", "at": "2026-03-03T14:05:00+00:00"},
                        "would_change": ["start", "archive", "delete"],
                    },
                }
            ]
        }
    )
    id: UUID = Field(description="Its id.")
    owner: Owner = Field(description="Whom it belongs to.")
    name: str = Field(description="What its owner calls it; unique among the owner's workspaces.")
    description: str = Field(description="What it is for.")
    memo: str = Field(description="The owner's notes.")
    template: TemplateName | None = Field(description="What it runs.")
    git_url: str | None = Field(description="The repository that its home began with.")
    resources: dict[str, Any] = Field(description="What it may use, where that differs from its template.")
    desired_state: Desired = Field(description="What is wanted of it.")
    desired_reason: str = Field(description="Why: `owner`, `idle`, `wake`, `admin` or `limit`.")
    desired_by: str | None = Field(description="Who wanted it, where it was a person.")
    phase: Phase = Field(description="What it is.")
    phase_changed_at: datetime = Field(description="Since when.")
    operation: OperationUnderWay | None = Field(description="What is being done about it; null for nothing.")
    request: RequestKind | None = Field(description="What was asked for beyond a wish, and is still to be answered.")
    error: Trouble | None = Field(description="What went wrong of late; null for nothing.")
    standby_after_seconds: int | None = Field(description="The owner's own idle time; null for the standard.")
    archive_after_seconds: int | None = Field(description="The owner's own archive time; null for the standard.")
    idle: IdleTimes = Field(description="The idle times in force.")
    archive: ArchiveInUse | None = Field(description="The newest archive of its files; null where there is none.")
    last_access_at: datetime | None = Field(description="When it was last used.")
    last_activity: Kind | None = Field(description="What it was last used for, as far as that is known.")
    hold: WorkspaceHold | None = Field(description="The hold that lasts longest; null where there was none.")
    created_at: datetime = Field(description="When it was made.")
    updated_at: datetime = Field(description="When anything of it last changed.")
    deleted_at: datetime | None = Field(description="When its deletion was asked for; null while it lives.")
    undo_until: datetime | None = Field(
        description="Until when a deleted one can be brought back; null for not at all."
    )
    undelete_seconds: int = Field(
        description="For how long after its deletion it could be brought back, as `archive` holds it; 0 for not.",
        ge=0,
    )
    revision: int = Field(description="Counts what its owner changed; the ETag holds it.", ge=1)
    url: str = Field(description="Where a person opens it.")
    explanation: Explanation = Field(description="Why it is as it is, and what comes next.")
