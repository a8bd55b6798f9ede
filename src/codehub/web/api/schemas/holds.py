"""Holds on workspaces."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field
from pydantic.config import JsonDict

from codehub.web.api.schemas.texts import PRINTABLE
from codehub.web.api.schemas.wishes import Body
from codehub.web.api.schemas.workspace_fields import LONGEST_SECONDS
from codehub.web.api.schemas.workspaces import Answer

HOLD: JsonDict = {
    "id": "3f0e4c1a-7d52-4a4f-9a0e-0d3b0a5f6c11",
    "workspace_id": "0b7c1c2e-5f0e-4c44-9f1c-6c1a2f6f3d10",
    "reason": "nightly build",
    "made_by": "ada",
    "made_at": "2026-01-31T12:00:00Z",
    "ends_at": "2026-01-31T14:00:00Z",
}
ForSeconds = Annotated[
    int,
    Field(
        description="How long from now on, if nobody renews it. Not above the administrator's ceiling.",
        ge=1,
        le=LONGEST_SECONDS,
        examples=[7200],
    ),
]


class NewHold(Body):
    """Something that shall go on undisturbed."""

    reason: str = Field(
        description="What for; the owner reads it. On one line.",
        min_length=1,
        max_length=100,
        pattern=PRINTABLE,
        examples=["nightly build"],
    )
    seconds: ForSeconds


class Renewal(Body):
    """It goes on for longer than it was said to."""

    seconds: ForSeconds


class Hold(Answer):
    """What keeps a workspace awake."""

    model_config = Answer.model_config | {"json_schema_extra": {"examples": [HOLD]}}
    id: UUID = Field(description="Names the hold, to renew it or let it go.")
    workspace_id: UUID = Field(description="What it keeps awake.")
    reason: str = Field(description="What for.")
    made_by: str = Field(description="Who placed it.")
    made_at: datetime = Field(description="When.")
    ends_at: datetime = Field(description="When it ends, if nobody renews it.")


class Holds(Answer):
    """All that keep a workspace awake at the moment."""

    items: list[Hold] = Field(description="The one that lasts longest first.")
