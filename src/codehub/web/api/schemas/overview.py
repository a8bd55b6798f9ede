"""The installation at a glance."""

from datetime import datetime

from pydantic import ConfigDict, Field

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


class Coordinators(Answer):
    """All of them, by name."""

    items: list[Coordinator] = Field(description="All that have ever been led.")


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
