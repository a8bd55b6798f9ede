"""Archives of a workspace, and what is asked for with them."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from codehub.model.states import Desired
from codehub.web.api.schemas.wishes import Body, ResourcesWanted
from codehub.web.api.schemas.workspace_fields import ArchiveAfter, Description, Memo, Name, StandbyAfter
from codehub.web.api.schemas.workspaces import Answer

_ID = "5d0c0e0a-8f5b-4b1e-9c55-1f4b7a0f2a31"
_ARCHIVE: JsonDict = {
    "id": _ID,
    "workspace_id": "0b7c1c2e-5f0e-4c44-9f1c-6c1a2f6f3d10",
    "number": 3,
    "made_at": "2026-03-01T08:30:00+00:00",
    "verified_at": "2026-03-01T08:30:12+00:00",
    "size": 73400320,
    "entries": 12345,
    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "kept": False,
    "current": True,
    "stays_because": "it is the current archive",
}


class Archive(Answer):
    """One archive of a home: a generation."""

    model_config = ConfigDict(json_schema_extra={"examples": [_ARCHIVE]})
    id: UUID = Field(description="Its id.")
    workspace_id: UUID = Field(description="The workspace it was made of; of a fork's first one that is its source.")
    number: int = Field(description="Which generation of that workspace it is; later ones have higher numbers.", ge=1)
    made_at: datetime = Field(description="When it was made: it holds the files as they were then.")
    verified_at: datetime = Field(description="When it was read back and found whole.")
    size: int = Field(description="Bytes, compressed: as many as a download has.", ge=0)
    entries: int = Field(description="Files, folders and links.", ge=0)
    sha256: str = Field(description="The SHA-256 of the archive, in hexadecimal digits.")
    kept: bool = Field(description="Whether its owner keeps it, however many newer ones there are.")
    current: bool = Field(description="Whether it is what the workspace comes back from.")
    stays_because: str | None = Field(
        description="Why it is not taken away; null where it goes once its grace is over, unless it is kept."
    )


class ArchivePage(Answer):
    """Some of the archives, newest first."""

    items: list[Archive] = Field(description="This page.")
    next: str | None = Field(description="The cursor of the next page; null where this is the last.")


class ArchiveChange(Body):
    """What is to change about an archive."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"kept": True}]})
    kept: bool = Field(description="Keep it, or let it go when its turn comes.")


class Restoration(Body):
    """Which files are to come back."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"archive_id": _ID}]})
    archive_id: UUID = Field(
        strict=False, description="Which archive of it, by its id (`GET /workspaces/{id}/archives`).", examples=[_ID]
    )


class NewFork(Body):
    """A workspace to be made from an archive of another. What is left out is as its source has it."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "garden-2", "archive_id": _ID, "desired_state": "RUNNING"}]},
    )
    name: Name
    archive_id: UUID | None = Field(
        default=None,
        strict=False,
        description="Which archive of the source, by its id; null for the newest that it stands on.",
        examples=[_ID],
    )
    template: str | None = Field(
        default=None,
        description="What it runs: the name or id of a template; null for that of its source.",
        min_length=1,
        max_length=63,
        pattern=r"^[^\x00-\x1f\x7f]+$",
        examples=["code-server"],
    )
    description: Description = ""
    memo: Memo = ""
    resources: ResourcesWanted | None = Field(
        default=None, description="Not more than its template gives; null for what its source has."
    )
    desired_state: Literal[Desired.RUNNING, Desired.STANDBY, Desired.ARCHIVED] = Field(
        default=Desired.RUNNING,
        description="RUNNING starts it at once, STANDBY only brings its files back, ARCHIVED leaves them there.",
    )
    standby_after_seconds: StandbyAfter = None
    archive_after_seconds: ArchiveAfter = None


class Return(Body):
    """How a deleted workspace comes back."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "garden", "desired_state": "RUNNING"}]})
    name: Name | None = Field(default=None, description="Another name, where its own belongs to another one by now.")
    desired_state: Literal[Desired.RUNNING, Desired.STANDBY, Desired.ARCHIVED] | None = Field(
        default=None, description="What it shall be; null for what it comes back as: STANDBY or ARCHIVED."
    )
