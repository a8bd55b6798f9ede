"""The installation at a glance, for its administrators: who leads what, and how many places are taken."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from codehub.store.admission import TAKEN
from codehub.store.reads import Reads
from codehub.store.seat import lock_key
from codehub.store.shards import DIVISION

_LOCKS = """
    SELECT lock_name, holder_id, epoch, acquired_at, released FROM system_locks WHERE lock_name <> $1 ORDER BY lock_name
"""
_HELD = """
    SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks
    WHERE locktype = 'advisory' AND granted AND objsubid = 1
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
_LIMITED = "SELECT count(*) FROM users WHERE max_running IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Office:
    """One coordinator's leadership."""

    name: str
    holder: str
    epoch: int
    since: datetime
    released: bool
    """Whether its last holder left in order."""
    held: bool
    """Whether somebody leads at this moment; read from the lock itself."""


@dataclass(frozen=True, slots=True)
class Places:
    taken: int
    users_with_own_limit: int


async def offices(reads: Reads) -> Sequence[Office]:
    held = {row[0] for row in await reads.fetch(_HELD)}
    return [
        Office(
            name=row["lock_name"],
            holder=row["holder_id"],
            epoch=row["epoch"],
            since=row["acquired_at"],
            released=row["released"],
            held=lock_key(row["lock_name"]) in held,
        )
        for row in await reads.fetch(_LOCKS, DIVISION)
    ]


async def places(reads: Reads) -> Places:
    return Places(await reads.fetchval(TAKEN), await reads.fetchval(_LIMITED))
