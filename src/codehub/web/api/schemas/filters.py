"""Which workspaces a list shall show."""

from dataclasses import replace
from typing import Annotated
from uuid import UUID

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from codehub.model.states import Desired, ErrorReason, Operation, Phase
from codehub.store.listing import Wanted
from codehub.web import paging
from codehub.web.api.schemas.workspace_fields import LINE


class WorkspaceFilter(BaseModel):
    """What is left out does not narrow. A parameter that is not known is told, instead of ignored in silence."""

    model_config = ConfigDict(extra="forbid")
    phase: list[Phase] = Field(default=[], max_length=10, description="Only in one of these phases.")
    desired: list[Desired] = Field(default=[], max_length=10, description="Only with one of these wishes.")
    template: str | None = Field(
        default=None, min_length=1, max_length=63, pattern=LINE, description="Only of this template, by name or id."
    )
    q: str = Field(default="", max_length=100, pattern=LINE, description="Only with this in name or description.")
    deleted: bool = Field(
        default=False, description="Instead of the living ones those that were deleted, as long as they are remembered."
    )
    cursor: paging.Cursor = None
    limit: paging.Limit = 50

    def wanted(self, owner_user_id: UUID | None) -> Wanted:
        """One more than shall be shown: it tells whether more follows. Raises NoSuchPage."""
        return Wanted(
            owner_user_id=owner_user_id,
            phases=self.phase,
            desired=self.desired,
            template=self.template,
            words=self.q,
            deleted=self.deleted,
            after=paging.position(self.cursor),
            limit=self.limit + 1,
        )


class EverybodysFilter(WorkspaceFilter):
    owner: UUID | None = Field(default=None, description="Only of this user.")
    operation: list[Operation] = Field(default=[], max_length=10, description="Only while one of these is under way.")
    error: list[ErrorReason] = Field(
        default=[], max_length=10, description="Only with one of these errors, or after an attempt that ran into it."
    )

    def wanted(self, owner_user_id: UUID | None) -> Wanted:
        return replace(super().wanted(owner_user_id), operations=self.operation, errors=self.error)


Filter = Annotated[WorkspaceFilter, Query()]
FilterOfAll = Annotated[EverybodysFilter, Query()]
