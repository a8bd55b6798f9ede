"""The installation at a glance."""

from datetime import datetime

from pydantic import ConfigDict, Field

from codehub.model.states import Operation, Phase
from codehub.web.api.schemas.workspaces import Answer


class Coordinator(Answer):
    """Who leads one part of the work."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "coordinator:wc",
                    "holder": "node-1:4711",
                    "epoch": 3,
                    "since": "2026-01-31T12:00:00Z",
                    "released": False,
                    "held": True,
                    "last_pass": "2026-01-31T12:30:00Z",
                    "last_error": None,
                    "is_failing": False,
                    "alarm": None,
                }
            ]
        }
    )
    name: str = Field(description="The lock of this work.")
    holder: str = Field(description="Who leads, or led last.")
    epoch: int = Field(description="How often leadership has begun.")
    since: datetime = Field(description="When the present or last leadership began.")
    released: bool = Field(description="Whether the last leader left in order.")
    held: bool = Field(description="Whether somebody leads at this moment.")
    last_pass: datetime | None = Field(
        description="When its last pass ended well; null before the first, and where it leads on another machine."
    )
    last_error: str | None = Field(description="What its last pass that failed ran into, in this leadership's process.")
    is_failing: bool = Field(description="Whether its last pass failed.")
    alarm: str | None = Field(description="What a person has to see to before it goes on.")


class Coordinators(Answer):
    """All of them, by name."""

    items: list[Coordinator] = Field(description="All that have ever been led.")


class Overview(Answer):
    """How much there is of everything, and whether what workspaces need answers."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "workspaces": {"RUNNING": 17, "STANDBY": 40, "ARCHIVED": 310},
                    "operations": {"STARTING": 1},
                    "users": 80,
                    "disabled_users": 2,
                    "archives": 903,
                    "archive_bytes": 88000000000,
                    "kept_archives": 12,
                    "services": {"runtime": True, "archive_store": True},
                }
            ]
        }
    )
    workspaces: dict[Phase, int] = Field(description="How many are in each phase; a phase without any is left out.")
    operations: dict[Operation, int] = Field(description="How many of each operation are under way.")
    users: int = Field(description="Accounts.", ge=0)
    disabled_users: int = Field(description="Those of them that nobody can log in to.", ge=0)
    archives: int = Field(description="Archives of homes, all generations.", ge=0)
    archive_bytes: int = Field(description="What they take up in the archive store.", ge=0)
    kept_archives: int = Field(description="Those of them that their owners have told to keep.", ge=0)
    services: dict[str, bool] = Field(
        description="What workspaces need, and whether it answers, as the leader sees it; empty where it leads on"
        " another machine."
    )


class LimitsInForce(Answer):
    """How many workspaces may run, and how many do."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "max_running_per_user": 2,
                    "max_running_global": 100,
                    "running": 17,
                    "users_with_own_limit": 1,
                }
            ]
        }
    )
    max_running_per_user: int = Field(description="For a user without a limit of their own.")
    max_running_global: int = Field(description="For everybody together.")
    running: int = Field(description="Places that are taken: workspaces that run or shall run.")
    users_with_own_limit: int = Field(description="How many users have a limit of their own; see `/admin/users`.")
