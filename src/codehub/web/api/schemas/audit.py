"""The audit log, as administrators read it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, Field

from codehub.web import paging
from codehub.web.api.schemas.texts import Body, Search


class AuditEntry(BaseModel):
    id: int = Field(description="Later entries have higher ones.")
    at: datetime = Field(description="When it was done.")
    actor_user_id: UUID | None = Field(description="The account that did it; null where nobody had proven to be it.")
    actor: str = Field(description="What it was called then.", examples=["ada"])
    action: str = Field(description="What was done.", examples=["user.disable"])
    subject_id: UUID | None = Field(description="What it was done to.")
    subject: str = Field(description="What that was called then.", examples=["bob"])
    address: str = Field(description="Where the request came from.", examples=["192.0.2.7"])
    request_id: str = Field(description="The request, as the logs name it.")
    detail: dict[str, Any] = Field(description="More about it, depending on the action.")


class AuditPage(BaseModel):
    items: list[AuditEntry] = Field(description="The newest first.")
    next: str | None = Field(description="The cursor of the next page; null where this is the last.")


class AuditFilter(Body):
    """What is left out does not narrow."""

    actor: Search = Field(default="", description="Only what this login did.")
    action: Search = Field(default="", description="Only this action, or all that begin with this word: `user`.")
    subject_id: UUID | None = Field(default=None, description="Only what was done to this.")
    since: AwareDatetime | None = Field(default=None, description="Only from this moment on.")
    until: AwareDatetime | None = Field(default=None, description="Only before this moment.")
    cursor: paging.Cursor = None
    limit: paging.Limit = 50
