"""What the TTL runner writes: when workspaces were last used, and the wish that those shall sleep which were not.

The conditions are those of `decide/idle.py`, for all rows at once; a test holds the two together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Float, TextClause, Uuid, bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import Text

from codehub.decide.idle import IdlePolicy
from codehub.model.activity import Doors, Sign
from codehub.model.states import Desired, Phase
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


_NOW = "(statement_timestamp() - greatest(CAST(:silent AS float8) - CAST(:flush AS float8), 0) * interval '1 second')"
"""The moment up to which all activity is known, and a flush beyond."""
_WATCHED = "(statement_timestamp() - CAST(:watched AS float8) * interval '1 second')"
_NOBODY = "'00000000-0000-0000-0000-000000000000'"
_IN_FORCE = """least(
    nullif(coalesce({own}, templates.{column}, CAST(:default AS integer)), 0),
    nullif(CAST(:ceiling AS integer), 0)) * interval '1 second'
"""
"""The idle time, as `within_ceiling` finds it; NULL for never, which `least` leaves out and no moment is before."""


@dataclass(frozen=True)
class _Rest:
    """How a workspace waits for its idle time to pass, in the words of the index that was made for it."""

    phase: Phase
    column: str
    since: str
    until: str
    """What `since` and the idle time together must be before."""
    besides: str = "true"

    @property
    def at_rest(self) -> str:
        return f"phase = '{self.phase}' AND operation = 'NONE' AND desired_state = '{self.phase}'"

    @property
    def is_over(self) -> str:
        return f"{self.since} < {self.until} - kind.idle_time AND {self.besides}"

    @property
    def kind(self) -> str:
        return f"coalesce({self.column}, -1), coalesce(template_id, {_NOBODY})"


_RESTS = {
    Desired.STANDBY: _Rest(
        phase=Phase.RUNNING,
        column="standby_after_seconds",
        since="greatest(last_access_at, phase_changed_at)",
        until=f"{_NOW} - CAST(:flush AS float8) * interval '1 second'",
        besides=f"""{_WATCHED} < {_NOW} - CAST(:flush AS float8) * interval '1 second' - kind.idle_time
            AND coalesce(held_until, '-infinity') < {_NOW}""",
    ),
    Desired.ARCHIVED: _Rest(Phase.STANDBY, "archive_after_seconds", "phase_changed_at", "statement_timestamp()"),
}


def _due(rest: _Rest) -> TextClause:
    """Kind by kind of idle time (there are few) those that are due (there are few), from the index: what it costs does
    not grow with those that are not."""
    one = f"SELECT {rest.kind} FROM workspaces WHERE {rest.at_rest}"  # noqa: S608 (words of this module, as below)
    return text(f"""
        WITH RECURSIVE kinds (own, template) AS (
            ({one} ORDER BY {rest.kind} LIMIT 1)
            UNION ALL
            SELECT another.* FROM kinds CROSS JOIN LATERAL (
                {one} AND ({rest.kind}) > (kinds.own, kinds.template) ORDER BY {rest.kind} LIMIT 1
            ) AS another (own, template)
        ), kind AS (
            SELECT own, template, {_IN_FORCE.format(own="nullif(own, -1)", column=rest.column)} AS idle_time
            FROM kinds LEFT JOIN templates ON templates.id = template
        )
        SELECT due.id FROM kind CROSS JOIN LATERAL (
            SELECT id FROM workspaces
            WHERE {rest.at_rest} AND ({rest.kind}) = (kind.own, kind.template) AND {rest.is_over}
            LIMIT :most
        ) AS due
        LIMIT :most
    """)  # noqa: S608


def _sleep(rest: _Rest, desired: Desired) -> TextClause:
    """A row that somebody else is writing to is left for the next pass. One that was written to since the statement
    began is looked at again as it is now, under its lock."""
    idle_time = _IN_FORCE.format(own=f"workspaces.{rest.column}", column=rest.column)
    return text(f"""
        WITH due AS (
            SELECT workspaces.id
            FROM workspaces LEFT JOIN templates ON templates.id = template_id
            CROSS JOIN LATERAL (SELECT {idle_time} AS idle_time) AS kind
            WHERE workspaces.id = ANY (:ids) AND {rest.at_rest} AND {rest.is_over}
            FOR NO KEY UPDATE OF workspaces SKIP LOCKED
        ), changed AS (
            UPDATE workspaces SET desired_state = '{desired}', desired_reason = 'idle', desired_by = NULL
            FROM due WHERE workspaces.id = due.id
            RETURNING workspaces.id
        ), told AS (
            INSERT INTO workspace_events (workspace_id, kind, before, after, reason)
            SELECT id, 'wish', '{rest.phase}', '{desired}', 'idle' FROM changed
        )
        SELECT id FROM changed
    """).bindparams(bindparam("ids", type_=ARRAY(Uuid)))  # noqa: S608


_DUE = {desired: _due(rest) for desired, rest in _RESTS.items()}
_SLEEP = {desired: _sleep(rest, desired) for desired, rest in _RESTS.items()}


class PostgresIdle:
    def __init__(self, seat: PostgresSeat, policy: IdlePolicy) -> None:
        self._seat = seat
        self._policy = policy

    async def now(self) -> datetime:
        return await self._seat.now()

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

    async def _ids(self, statement: TextClause, values: Mapping[str, object]) -> Sequence[UUID]:
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
