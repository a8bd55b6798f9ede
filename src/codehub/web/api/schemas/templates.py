"""Templates: what workspaces are made from."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from codehub.model.states import ImageState
from codehub.web.api.schemas.wishes import Body
from codehub.web.api.schemas.workspace_fields import (
    ArchiveAfter,
    Cpus,
    Description,
    DiskBytes,
    MemoryBytes,
    Name,
    Pids,
    StandbyAfter,
)
from codehub.web.api.schemas.workspaces import Answer

IMAGE = r"^[A-Za-z0-9][A-Za-z0-9._:/@-]*$"
PATH = r"^/[A-Za-z0-9._~/-]*$"
VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"

Image = Annotated[
    str,
    Field(
        description="The image that is run: a reference that the engine can pull.",
        min_length=1,
        max_length=500,
        pattern=IMAGE,
        examples=["registry.example.org/ide/python:3.13"],
    ),
]
Port = Annotated[int, Field(description="Where the IDE listens.", ge=1, le=65535, examples=[8080])]
HealthPath = Annotated[
    str, Field(description="Answers when the IDE is ready.", max_length=500, pattern=PATH, examples=["/healthz"])
]
StripPrefix = Annotated[
    bool, Field(description="Whether a path prefix of the front door is taken away before the IDE sees a request.")
]
Value = Annotated[str, Field(max_length=5000, pattern=r"^[^\x00]*$")]
Environment = Annotated[
    dict[Annotated[str, Field(max_length=200, pattern=VARIABLE)], Value],
    Field(description="Environment variables. Only administrators see them.", max_length=200, examples=[{"TZ": "UTC"}]),
]


class TemplateResources(Body):
    """What a workspace of it may use at most; what is left out is as the runtime has it."""

    memory_bytes: MemoryBytes | None = None
    cpus: Cpus | None = None
    pids: Pids | None = None
    disk_bytes: DiskBytes | None = None


class NewTemplateBody(Body):
    """A template to be made."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"name": "python", "image_ref": "registry.example.org/ide/python:3.13", "port": 8080}]
        }
    )
    name: Name
    image_ref: Image
    port: Port
    description: Description = ""
    health_path: HealthPath = "/healthz"
    strip_prefix: StripPrefix = True
    environment: Environment = Field(default_factory=dict)
    resources: TemplateResources = Field(default_factory=TemplateResources)
    standby_after_seconds: StandbyAfter = None
    archive_after_seconds: ArchiveAfter = None

    def columns(self) -> dict[str, object]:
        return {**self.model_dump(exclude={"resources"}), "resources": self.resources.model_dump(exclude_none=True)}


class TemplateChange(Body):
    """What is to change; what is left out stays as it is. Of a built-in one only environment, resources and idle times:
    codehub knows the rest better."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"resources": {"memory_bytes": 4294967296, "cpus": 4.0}}]}
    )
    name: Name | None = None
    image_ref: Image | None = None
    port: Port | None = None
    description: Description | None = None
    health_path: HealthPath | None = None
    strip_prefix: StripPrefix | None = None
    environment: Environment | None = None
    resources: TemplateResources | None = None
    standby_after_seconds: StandbyAfter = None
    archive_after_seconds: ArchiveAfter = None

    def columns(self) -> dict[str, object]:
        """Null means something only for the idle times: no choice of its own."""
        sent: dict[str, object] = self.model_dump(exclude_unset=True, exclude={"resources"})
        if self.resources is not None:
            sent["resources"] = self.resources.model_dump(exclude_none=True)
        return {name: value for name, value in sent.items() if value is not None or name.endswith("_seconds")}


EXAMPLE: JsonDict = {
    "id": "8f4e3c52-1e0b-4a7f-8a8e-2f9c7d1b6a55",
    "name": "code-server",
    "description": "VS Code in the browser",
    "status": "ready",
    "status_detail": "",
    "resources": {"memory_bytes": 2147483648, "cpus": 2.0, "pids": 512, "disk_bytes": 10737418240},
    "standby_after_seconds": None,
    "archive_after_seconds": None,
    "built_in": True,
}


class Template(Answer):
    """What a workspace can be made from."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})
    id: UUID = Field(description="Never changes.")
    name: str = Field(description="What it is called.")
    description: str = Field(description="One line about it.")
    status: ImageState = Field(description="Whether what it runs is there.")
    status_detail: str = Field(description="What is done about it, or why it failed.")
    resources: dict[str, float] = Field(description="What a workspace of it may use at most.")
    standby_after_seconds: int | None = Field(description="Its idle time; null for that of the installation.")
    archive_after_seconds: int | None = Field(description="Its archive time; null for that of the installation.")
    built_in: bool = Field(description="Whether it came with codehub.")


class TemplateWhole(Template):
    """A template with what only administrators see."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    **EXAMPLE,
                    "image_ref": "codehub/code-server:1",
                    "port": 8080,
                    "health_path": "/healthz",
                    "strip_prefix": True,
                    "environment": {},
                    "created_at": "2026-01-31T12:00:00Z",
                    "updated_at": "2026-01-31T12:00:00Z",
                }
            ]
        }
    )
    image_ref: str | None = Field(description="The image that is run.")
    port: int = Field(description="Where the IDE listens.")
    health_path: str = Field(description="Answers when the IDE is ready.")
    strip_prefix: bool = Field(description="Whether a path prefix is taken away.")
    environment: dict[str, str] = Field(description="Environment variables.")
    created_at: datetime = Field(description="When it was made.")
    updated_at: datetime = Field(description="When it was last changed.")


class Templates(Answer):
    """All of them, by name."""

    items: list[Template] = Field(description="All templates.")


class TemplatesWhole(Answer):
    """All of them, by name."""

    items: list[TemplateWhole] = Field(description="All templates.")
