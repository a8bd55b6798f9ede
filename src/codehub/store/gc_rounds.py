"""The collector's rounds: asked for, made, halted, confirmed. The interval counts from the last one recorded here, so
that neither a restart nor another leader makes a round too early or too late."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from sqlalchemy import RowMapping, bindparam, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.store.seat import PostgresSeat

_BEGIN_ONE_THAT_IS_ASKED_FOR = text("""
    UPDATE gc_rounds SET began_at = clock_timestamp()
    WHERE id = (SELECT id FROM gc_rounds WHERE ended_at IS NULL ORDER BY asked_at, id LIMIT 1)
    RETURNING id
""")
_BEGIN_ONE_THAT_IS_DUE = text("""
    INSERT INTO gc_rounds (asked_at, began_at)
    SELECT clock_timestamp(), clock_timestamp()
    WHERE NOT EXISTS (SELECT FROM gc_rounds WHERE began_at > clock_timestamp() - CAST(:interval AS interval))
    RETURNING id
""")
_CONFIRMED = text("""
    SELECT CASE WHEN confirmed_at IS NULL THEN 0 ELSE due END FROM gc_rounds
    WHERE ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT 1
""")
_END = text("""
    UPDATE gc_rounds
    SET ended_at = clock_timestamp(), seen = :seen, kept = :kept, waiting = :waiting, deleted = :deleted,
        pruned = :pruned, due = :due, halted = :halted, failed = NULL
    WHERE id = :id
""").bindparams(*(bindparam(name, type_=JSONB) for name in ("kept", "deleted", "pruned")))
_FAILED = text("UPDATE gc_rounds SET failed = :why WHERE id = :id")

_ASK = text("""
    INSERT INTO gc_rounds (asked_by) SELECT :by
    WHERE NOT EXISTS (SELECT FROM gc_rounds WHERE ended_at IS NULL)
    RETURNING *
""")
_TO_COME = text("SELECT * FROM gc_rounds WHERE ended_at IS NULL ORDER BY asked_at, id LIMIT 1")
_NEWEST = text("SELECT * FROM gc_rounds ORDER BY asked_at DESC, id DESC LIMIT :limit")
_LAST_ENDED = text("SELECT * FROM gc_rounds WHERE ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT 1")
_ONE = text("SELECT * FROM gc_rounds WHERE id = :id")
_CONFIRM = text("""
    UPDATE gc_rounds SET confirmed_at = clock_timestamp(), confirmed_by = :by
    WHERE due > 0 AND halted IS NOT NULL AND confirmed_at IS NULL
      AND id = (SELECT id FROM gc_rounds WHERE ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT 1)
    RETURNING *
""")
_ONE_AT_A_TIME = text("SELECT pg_advisory_xact_lock(5, 0)")
"""Two that ask at the same moment ask for the same round."""


@dataclass(frozen=True, slots=True)
class Begun:
    id: UUID
    confirmed: int
    """So many an administrator has allowed this round to take, after the last one was halted."""


@dataclass(frozen=True, slots=True)
class RoundTold:
    """What a round came to."""

    seen: int
    kept: Mapping[str, int]
    """How many for each reason."""
    waiting: int
    """Unprotected, but still in their grace."""
    deleted: Mapping[str, int]
    """How many of each kind."""
    pruned: Mapping[str, int]
    """Old rows, by table."""
    due: int
    halted: str | None = None


@dataclass
class PostgresRounds:
    """As the leader writes them."""

    seat: PostgresSeat
    interval: timedelta = field(kw_only=True)

    async def begin(self) -> Begun | None:
        """The next round, if one is asked for, was cut short, or is due by the interval."""
        async with self.seat.transaction() as connection:
            confirmed = await connection.scalar(_CONFIRMED)
            begun = await connection.scalar(_BEGIN_ONE_THAT_IS_ASKED_FOR)
            begun = begun or await connection.scalar(_BEGIN_ONE_THAT_IS_DUE, {"interval": self.interval})
            return Begun(begun, confirmed or 0) if begun is not None else None

    async def halted(self) -> str | None:
        """Why the last round waits for an administrator, if it does."""
        async with self.seat.statement() as connection:
            last = await last_ended(connection)
            return last["halted"] if last is not None and last["confirmed_at"] is None else None

    async def end(self, round_id: UUID, told: RoundTold) -> None:
        values = {name: getattr(told, name) for name in ("seen", "waiting", "due", "halted")}
        values |= {name: dict(getattr(told, name)) for name in ("kept", "deleted", "pruned")}
        async with self.seat.statement() as connection:
            await connection.execute(_END, {"id": round_id, **values})

    async def failed(self, round_id: UUID, why: str) -> None:
        """It has not ended, and is begun again."""
        async with self.seat.statement() as connection:
            await connection.execute(_FAILED, {"id": round_id, "why": why})


async def ask(connection: AsyncConnection, by: str) -> RowMapping:
    """A round, as soon as possible: one that is to come already, or a new one."""
    await connection.execute(_ONE_AT_A_TIME)
    asked = (await connection.execute(_ASK, {"by": by})).mappings().first()
    return asked or (await connection.execute(_TO_COME)).mappings().one()


async def newest(connection: AsyncConnection, limit: int) -> Sequence[RowMapping]:
    return (await connection.execute(_NEWEST, {"limit": limit})).mappings().all()


async def last_ended(connection: AsyncConnection) -> RowMapping | None:
    return (await connection.execute(_LAST_ENDED)).mappings().first()


async def one(connection: AsyncConnection, round_id: UUID) -> RowMapping | None:
    return (await connection.execute(_ONE, {"id": round_id})).mappings().first()


async def confirm(connection: AsyncConnection, by: str) -> RowMapping | None:
    """Let the next round take as many as the last one was halted over. None where the last one was not halted for that,
    or it was confirmed before."""
    return (await connection.execute(_CONFIRM, {"by": by})).mappings().first()
