"""What the TTL runner writes: when workspaces were last used, and the wish that those shall sleep which were not.

The conditions are those of `decide/idle.py`, for all rows at once; a test holds the two together."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Float, Uuid, bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import Text

from codehub.decide.idle import IdlePolicy
from codehub.model.activity import Doors, Sign
from codehub.model.states import Desired
from codehub.store.seat import PostgresSeat

_BRING_IN = text("""
    UPDATE workspaces
    SET last_access_at = greatest(last_access_at, seen.at), last_activity = seen.kind
    FROM (SELECT id, statement_timestamp() - ago * interval '1 second' AS at, kind
          FROM unnest(:ids, :ago, :kinds) AS told (id, ago, kind)) AS seen
    WHERE workspaces.id = seen.id AND deleted_at IS NULL AND (last_access_at IS NULL OR last_access_at < seen.at)
""").bindparams(
    bindparam("ids", type_=ARRAY(Uuid)), bindparam("ago", type_=ARRAY(Float)), bindparam("kinds", type_=ARRAY(Text))
)


def _in_force(column: str) -> str:
    """The idle time in seconds, as `within_ceiling` finds it; NULL for never, which `least` leaves out."""
    chosen = f"coalesce(workspaces.{column}, templates.{column}, CAST(:default AS integer))"
    return f"least(nullif({chosen}, 0), nullif(CAST(:ceiling AS integer), 0))"


_SECOND = "interval '1 second'"
_FLUSH = f"CAST(:flush AS float8) * {_SECOND}"
_NOW = f"(statement_timestamp() - greatest(CAST(:silent AS float8) - CAST(:flush AS float8), 0) * {_SECOND})"
_USED = "greatest(last_access_at, phase_changed_at)"
_WATCHED = f"statement_timestamp() - CAST(:watched AS float8) * {_SECOND}"

# The first line of each is the index's own words; the second lets it leave out whoever was there a moment ago.
_IDLE = {
    Desired.STANDBY: f"""
        phase = 'RUNNING' AND operation = 'NONE' AND desired_state = 'RUNNING'
        AND {_USED} < {_NOW} - {_FLUSH}
        AND {_NOW} > greatest(
            greatest({_USED}, {_WATCHED}) + {_in_force("standby_after_seconds")} * {_SECOND} + {_FLUSH},
            coalesce(held_until, '-infinity'))
        AND {_in_force("standby_after_seconds")} IS NOT NULL
    """,
    Desired.ARCHIVED: f"""
        phase = 'STANDBY' AND operation = 'NONE' AND desired_state = 'STANDBY'
        AND phase_changed_at < statement_timestamp()
        AND statement_timestamp() > phase_changed_at + {_in_force("archive_after_seconds")} * {_SECOND}
    """,
}
_FROM = "FROM workspaces LEFT JOIN templates ON templates.id = template_id"
_DUE = {
    desired: text(f"SELECT workspaces.id {_FROM} WHERE {condition} LIMIT :most") for desired, condition in _IDLE.items()
}
# A row that somebody else is writing to is left for the next pass. One that was written to since this statement began
# is looked at again as it is now, under its lock.
_SLEEP = {
    desired: text(f"""
        WITH due AS (
            SELECT workspaces.id, desired_state {_FROM}
            WHERE workspaces.id = ANY (:ids) AND {condition}
            FOR NO KEY UPDATE OF workspaces SKIP LOCKED
        ), changed AS (
            UPDATE workspaces SET desired_state = '{desired}', desired_reason = 'idle', desired_by = NULL
            FROM due WHERE workspaces.id = due.id
            RETURNING workspaces.id, due.desired_state AS before
        ), told AS (
            INSERT INTO workspace_events (workspace_id, kind, before, after, reason)
            SELECT id, 'wish', before, '{desired}', 'idle' FROM changed
        )
        SELECT id FROM changed
    """).bindparams(bindparam("ids", type_=ARRAY(Uuid)))  # noqa: S608
    for desired, condition in _IDLE.items()
}


class PostgresIdle:
    def __init__(self, seat: PostgresSeat, policy: IdlePolicy) -> None:
        self._seat = seat
        self._policy = policy

    async def bring_in(self, signs: Sequence[Sign]) -> None:
        if not signs:
            return
        values = {
            "ids": [sign.workspace_id for sign in signs],
            "ago": [sign.seconds_ago for sign in signs],
            "kinds": [sign.kind for sign in signs],
        }
        async with self._seat.statement() as connection:
            await connection.execute(_BRING_IN, values)

    async def may_stand_by(self, doors: Doors, most: int) -> Sequence[UUID]:
        return await self._ids(_DUE[Desired.STANDBY], {**self._standby(doors), "most": most})

    async def may_be_archived(self, most: int) -> Sequence[UUID]:
        return await self._ids(_DUE[Desired.ARCHIVED], {**self._archive(), "most": most})

    async def stand_by(self, ids: Sequence[UUID], doors: Doors) -> Sequence[UUID]:
        return await self._ids(_SLEEP[Desired.STANDBY], {**self._standby(doors), "ids": list(ids)})

    async def archive(self, ids: Sequence[UUID]) -> Sequence[UUID]:
        return await self._ids(_SLEEP[Desired.ARCHIVED], {**self._archive(), "ids": list(ids)})

    async def _ids(self, statement: Any, values: Mapping[str, Any]) -> Sequence[UUID]:  # noqa: ANN401
        async with self._seat.statement() as connection:
            return list((await connection.execute(statement, values)).scalars())

    def _standby(self, doors: Doors) -> dict[str, float]:
        return {
            "default": self._policy.standby_after_seconds,
            "ceiling": self._policy.standby_ceiling_seconds,
            "flush": self._policy.flush_interval.total_seconds(),
            "watched": doors.watched_for_seconds,
            "silent": doors.silent_for_seconds,
        }

    def _archive(self) -> dict[str, float]:
        return {"default": self._policy.archive_after_seconds, "ceiling": self._policy.archive_ceiling_seconds}
