"""The installation at a glance, for its administrators: who leads what, places taken, how much there is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from codehub.model.states import Operation, Phase
from codehub.store.admission import TAKEN
from codehub.store.listing import Wanted, counts
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
_GLANCE = """
    SELECT (SELECT count(*) FROM users) AS users,
           (SELECT count(*) FROM users WHERE disabled) AS disabled_users,
           count(*) AS archives, coalesce(sum(size), 0)::bigint AS archive_bytes,
           count(*) FILTER (WHERE kept) AS kept_archives
    FROM archives
"""
_OPERATIONS = "SELECT operation, count(*) AS many FROM workspaces WHERE operation <> 'NONE' GROUP BY operation"
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


@dataclass(frozen=True, slots=True)
class Glance:
    """How much there is of everything."""

    workspaces: Mapping[Phase, int]
    """The living ones."""
    operations: Mapping[Operation, int]
    """What is under way, that of deleted ones included."""
    users: int
    disabled_users: int
    archives: int
    archive_bytes: int
    kept_archives: int
    """Those that their owners have told to keep."""


async def glance(reads: Reads) -> Glance:
    under_way = {Operation(row["operation"]): row["many"] for row in await reads.fetch(_OPERATIONS)}
    [row] = await reads.fetch(_GLANCE)
    return Glance(await counts(reads, Wanted()), under_way, **dict(row))


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
