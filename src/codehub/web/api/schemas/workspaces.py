"""Lists and other answers about workspaces."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from codehub.model.states import Phase
from codehub.store.history import EventKind
from codehub.web.api.schemas.workspace import Workspace


class Answer(BaseModel):
    """Each field is always there."""

    model_config = ConfigDict(extra="forbid")


class WorkspacePage(Answer):
    """Some of the workspaces, newest first."""

    items: list[Workspace] = Field(description="This page.")
    next: str | None = Field(description="The cursor of the next page; null where this is the last.")


class Deleted(Answer):
    """A workspace on its way out."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "3f0e4c1a-7d52-4a4f-9a0e-0d3b0a5f6c11",
                    "name": "garden",
                    "deleted_at": "2026-01-31T13:00:00Z",
                    "phase": "RUNNING",
                    "undo_until": "2026-02-07T13:00:00Z",
                    "as_of": "2026-01-30T08:30:00Z",
                }
            ]
        }
    )
    id: UUID = Field(description="The workspace.")
    name: str = Field(description="What it was called; the name is free again.")
    deleted_at: datetime = Field(description="When its deletion was asked for.")
    phase: Phase = Field(description="DELETED when nothing of it is left.")
    undo_until: datetime | None = Field(description="Until when it can be brought back; null for not at all.")
    as_of: datetime | None = Field(description="When its archive was made: as they were then, its files come back.")


class WorkspaceEvent(Answer):
    """One thing that happened to a workspace."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": 42,
                    "at": "2026-01-31T12:00:00Z",
                    "kind": "wish",
                    "before": "STANDBY",
                    "after": "RUNNING",
                    "reason": "owner",
                    "actor": "ada",
                    "detail": "",
                }
            ]
        }
    )
    id: int = Field(description="Grows with time.")
    at: datetime = Field(description="When.")
    kind: EventKind = Field(description="What kind of thing.")
    before: str | None = Field(description="The phase, operation or wish before it.")
    after: str | None = Field(description="The phase, operation or wish after it.")
    reason: str | None = Field(description="Why, in a word.")
    actor: str | None = Field(description="Who, where it was a person.")
    detail: str = Field(description="What else there is to say.")


class WorkspaceEventPage(Answer):
    """Some of what happened, newest first."""

    items: list[WorkspaceEvent] = Field(description="This page.")
    next: str | None = Field(description="The cursor of the next page; null where this is the last.")


class WorkspaceStats(Answer):
    """What a running workspace uses at this moment."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "at": "2026-01-31T12:00:00Z",
                    "cpu_seconds": 12.5,
                    "memory_bytes": 314572800,
                    "memory_limit_bytes": 2147483648,
                    "pids": 34,
                }
            ]
        }
    )
    at: datetime = Field(description="When it was measured.")
    cpu_seconds: float = Field(description="Processor time since its start.", ge=0)
    memory_bytes: int = Field(description="Memory in use.", ge=0)
    memory_limit_bytes: int | None = Field(description="Memory it may use; null where nothing limits it.")
    pids: int = Field(description="Processes and threads.", ge=0)
