"""The collector, as administrators see it."""

from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

from pydantic import ConfigDict, Field

from codehub.decide.orphans import OrphanKind
from codehub.web.api.schemas.texts import Body
from codehub.web.api.schemas.workspaces import Answer


class AlarmCode(StrEnum):
    """Why nothing is deleted until somebody has seen to it."""

    ROUND_HALTED = "round_halted"
    DATABASE_IS_OLD = "database_is_old"
    STORE_AWAY = "archive_store_away"


class Alarm(Answer):
    code: AlarmCode = Field(
        description="A round that would take much, or a database that is old, has to be confirmed. While the archive"
        " store is away, nobody can tell whether the database is."
    )
    why: str = Field(description="A sentence for people.")


class GcRound(Answer):
    """One round of the collector."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "7d1f4ad2-1c0b-4a55-8a39-5d0a6b3c9e10",
                    "asked_at": "2026-01-31T12:00:00Z",
                    "asked_by": "ada",
                    "began_at": "2026-01-31T12:00:01Z",
                    "ended_at": "2026-01-31T12:00:03Z",
                    "seen": 120,
                    "kept": {"it is the current archive": 80, "it is among the newest 3": 38},
                    "waiting": 1,
                    "deleted": {"archive": 1},
                    "pruned": {"sessions": 12},
                    "due": 1,
                    "halted": None,
                    "confirmed_at": None,
                    "confirmed_by": None,
                    "failed": None,
                }
            ]
        }
    )
    id: UUID = Field(description="Names it.")
    asked_at: datetime = Field(description="When it was asked for, or became due.")
    asked_by: str | None = Field(description="Who asked for it; null for one that was due.")
    began_at: datetime | None = Field(description="When it was begun, last.")
    ended_at: datetime | None = Field(description="Null while it is still to be made, or being made.")
    seen: int = Field(description="Archives, uploads, volumes, containers and jobs that there were.")
    kept: dict[str, int] = Field(description="How many of them stay, by reason.")
    waiting: int = Field(description="How many nothing points to, whose grace is not over.")
    deleted: dict[str, int] = Field(description="How many went, by kind.")
    pruned: dict[str, int] = Field(description="How many old rows went, by table.")
    due: int = Field(description="How many could have gone.")
    halted: str | None = Field(description="Why none went although some could have.")
    confirmed_at: datetime | None = Field(description="When the next round was allowed to take as many.")
    confirmed_by: str | None = Field(description="By whom.")
    failed: str | None = Field(description="Why it could not be made so far; it is tried again.")


class GcRounds(Answer):
    items: list[GcRound] = Field(description="The newest first.")


class GcState(Answer):
    """How the collector stands."""

    alarms: list[Alarm] = Field(description="What an administrator has to see to; empty while all is well.")
    last_round: GcRound | None = Field(description="The last one that has ended.")
    next_round_at: datetime | None = Field(description="When the next one is due; null where that is now.")


class Thing(Answer):
    """Something that exists outside the database."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "kind": "archive",
                    "key": "3f0e4c1a-7d52-4a4f-9a0e-0d3b0a5f6c11/9b2d64a0-52f1-4d7e-8f3b-64d0c9c5a777/home.tar.zst",
                    "workspace_id": "3f0e4c1a-7d52-4a4f-9a0e-0d3b0a5f6c11",
                    "unprotected_since": "2026-01-31T09:00:00Z",
                }
            ]
        }
    )
    kind: OrphanKind = Field(description="What it is.")
    key: str = Field(description="The key, name or id that it has there.")
    workspace_id: UUID = Field(description="The workspace that it was made for.")
    unprotected_since: datetime | None = Field(description="Since when nothing points to it; null: seen so only now.")


class GcPreview(Answer):
    """What a round would do at this moment."""

    seen: int = Field(description="How much there is.")
    take: list[Thing] = Field(description="What would be deleted. At most 1,000 are listed.")
    wait: list[Thing] = Field(description="What nothing points to, but whose grace is not over. At most 1,000.")
    kept: dict[str, int] = Field(description="How many stay, by reason.")
    due: int = Field(description="How many could be deleted.")
    halted: str | None = Field(description="Why none would be, although some could.")


class Confirmation(Body):
    alarm: Literal[AlarmCode.ROUND_HALTED, AlarmCode.DATABASE_IS_OLD] = Field(
        description="What was looked at, and found to be right.", examples=["round_halted"]
    )
