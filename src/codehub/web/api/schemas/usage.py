"""What a workspace used."""

from datetime import datetime

from pydantic import ConfigDict, Field

from codehub.web.api.schemas.workspaces import Answer


class UsageSample(Answer):
    """What it used at one moment."""

    at: datetime = Field(description="When it was looked at.")
    cpus: float | None = Field(
        description="How many processors it kept busy since the sample before; null for the first one of a container.",
        ge=0,
    )
    cpus_limit: float | None = Field(description="How many it may keep busy; null where nothing limits it.", ge=0)
    memory_bytes: int = Field(description="Memory in use.", ge=0)
    memory_limit_bytes: int | None = Field(description="Memory it may use; null where nothing limits it.")
    pids: int = Field(description="Processes and threads.", ge=0)
    home_bytes: int | None = Field(
        description="What its home held when that was last counted, some minutes before at most; null until then."
    )


class WorkspaceUsage(Answer):
    """What a workspace used in the last hour."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "every_seconds": 15,
                    "samples": [
                        {
                            "at": "2026-01-31T12:00:00Z",
                            "cpus": 0.42,
                            "cpus_limit": 2,
                            "memory_bytes": 314572800,
                            "memory_limit_bytes": 2147483648,
                            "pids": 34,
                            "home_bytes": 52428800,
                        }
                    ],
                }
            ]
        }
    )
    every_seconds: float = Field(description="How often it is looked at while it runs.", gt=0)
    samples: list[UsageSample] = Field(description="The last hour, oldest first.")
