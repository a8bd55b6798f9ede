"""The controller's work in parts: which workspaces are whose, and that no two divisions of it are ever at work at once.

Every leader of a part holds, beside the lock of its part, a shared lock that bears the number of parts. Whoever finds
that lock with another number steps back: a changed number holds from when the last process with the old one is gone."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, text
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.store.tables import workspaces

DIVISION_LOCK = 20_481
"""The first half of the shared lock's key; the second is the number of parts. Locks of other kinds have one 64-bit key,
which PostgreSQL keeps apart from these."""
DIVISION = "coordinator:wc division"


@dataclass(frozen=True, slots=True)
class Shard:
    number: int = 0
    of: int = 1

    @property
    def name(self) -> str:
        return "wc" if self.of == 1 else f"wc:{self.number}"

    @property
    def lock_name(self) -> str:
        return f"coordinator:{self.name}"

    def workspaces(self) -> ColumnElement[bool]:
        """The rows that are this part's: each row is exactly one part's."""
        return func.abs(func.mod(func.uuid_hash_extended(workspaces.c.id, 0), self.of)) == self.number


def shards(count: int) -> Iterator[Shard]:
    return (Shard(number, count) for number in range(count))


_JOIN = text("SELECT pg_advisory_lock_shared(:lock, :count)")
_LEAVE = text("SELECT pg_advisory_unlock_shared(:lock, :count)")
_OTHERS = text("""
    SELECT EXISTS (
        SELECT FROM pg_locks
        WHERE locktype = 'advisory' AND objsubid = 2 AND classid = :lock AND objid <> :count
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    )
""")
# The number that was at work last, and since when. One part is what there was before anything was written down.
_RECORD = text("""
    INSERT INTO system_locks AS locks (lock_name, holder_id, epoch, acquired_at, released)
    VALUES (:name, :count, 1, CASE :count WHEN '1' THEN to_timestamp(0) ELSE clock_timestamp() END, true)
    ON CONFLICT (lock_name) DO UPDATE
        SET holder_id = :count, epoch = locks.epoch + 1, acquired_at = clock_timestamp()
        WHERE locks.holder_id <> :count
""")
_IS_NEW = text("""
    SELECT acquired_at > clock_timestamp() - make_interval(secs => :seconds) FROM system_locks WHERE lock_name = :name
""")


async def join(connection: AsyncConnection, count: int) -> bool:
    """Take part in this division, for as long as the session lasts. False where another one is still at work. First the
    lock, then the look: of two that come at once with different numbers, at least one sees the other."""
    key = {"lock": DIVISION_LOCK, "count": count}
    await connection.execute(_JOIN, key)
    if await connection.scalar(_OTHERS, key):
        await leave(connection, count)
        return False
    await connection.execute(_RECORD, {"name": DIVISION, "count": str(count)})
    return True


async def leave(connection: AsyncConnection, count: int) -> None:
    await connection.execute(_LEAVE, {"lock": DIVISION_LOCK, "count": count})


async def is_new(connection: AsyncConnection, seconds: float) -> bool:
    """Whether this division is younger than that: then a leader of the one before it may still be acting."""
    return bool(await connection.scalar(_IS_NEW, {"name": DIVISION, "seconds": seconds}))
