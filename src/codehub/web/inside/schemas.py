"""What workspaces tell of themselves."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from codehub.model.clones import Outcome
from codehub.web.api.schemas.workspace_fields import LINE


class ToldClone(BaseModel):
    """What has become of its repository."""

    model_config = ConfigDict(extra="forbid")
    outcome: Outcome
    detail: Annotated[str, Field(max_length=500, pattern=LINE)] = ""
