"""What people send about workspaces."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from codehub.model.states import Desired
from codehub.web.api.schemas.workspace_fields import (
    ArchiveAfter,
    Cpus,
    Description,
    DiskBytes,
    GitUrl,
    Memo,
    MemoryBytes,
    Name,
    Pids,
    StandbyAfter,
)


class Body(BaseModel):
    """What is not known here is a mistake, and is told; so is a number that comes as text."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ResourcesWanted(Body):
    """At most so much; what is left out is as the template says."""

    memory_bytes: MemoryBytes | None = None
    cpus: Cpus | None = None
    pids: Pids | None = None
    disk_bytes: DiskBytes | None = None

    def given(self) -> dict[str, float]:
        return self.model_dump(exclude_none=True)


class NewWorkspaceBody(Body):
    """A workspace to be made."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"name": "garden", "template": "code-server", "description": "The shop's next version"}]
        }
    )
    name: Name
    template: str = Field(
        description="What it runs: the name or id of a template (`GET /templates`).",
        min_length=1,
        max_length=63,
        pattern=r"^[^\x00-\x1f\x7f]+$",
        examples=["code-server"],
    )
    description: Description = ""
    memo: Memo = ""
    git_url: GitUrl | None = None
    resources: ResourcesWanted = Field(
        default_factory=ResourcesWanted,
        description="Not more than its template gives; an administrator may give more.",
    )
    desired_state: Literal[Desired.RUNNING, Desired.STANDBY] = Field(
        default=Desired.RUNNING, description="RUNNING starts it at once, STANDBY only makes its home."
    )
    standby_after_seconds: StandbyAfter = None
    archive_after_seconds: ArchiveAfter = None


class WorkspaceChange(Body):
    """What is to change; what is left out stays as it is."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"description": "Rewritten", "desired_state": "STANDBY"}]}
    )
    name: Name | None = None
    description: Description | None = None
    memo: Memo | None = None
    standby_after_seconds: StandbyAfter = None
    archive_after_seconds: ArchiveAfter = None
    desired_state: Literal[Desired.RUNNING, Desired.STANDBY, Desired.ARCHIVED] | None = Field(
        default=None, description="What it shall be. ARCHIVED is refused until homes can be archived."
    )

    def described(self) -> dict[str, object]:
        """The columns that were sent. Null means something only for the idle times: no choice of its own."""
        sent = self.model_dump(exclude_unset=True, exclude={"desired_state"})
        return {name: value for name, value in sent.items() if value is not None or name.endswith("_seconds")}


class Recovery(Body):
    """How to go on with a workspace in ERROR."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"start_empty": False}]})
    start_empty: bool = Field(
        default=False,
        description="Only for a home that is lost: give it up, and begin with an empty one. Without it, what is there"
        " is looked at again and the work goes on from there.",
    )
