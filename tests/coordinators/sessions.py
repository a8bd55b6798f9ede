"""What an administrator, or a crash, does to the sessions of coordinators."""

import asyncpg

from codehub.store.seat import lock_key

_LEADERS = """
    SELECT pg_terminate_backend(pid) FROM pg_locks
    WHERE locktype = 'advisory' AND granted AND objsubid = 1
      AND ((classid::bigint << 32) | objid::bigint) = $1
"""
_ALL = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'codehub coordinator:%'
"""
_HOLDERS = "SELECT holder_id, epoch, released FROM system_locks WHERE lock_name = $1"


async def kill_leader(database_url: str, lock_name: str) -> None:
    """End the session that holds this lock; those that wait for it are left alone."""
    connection = await asyncpg.connect(database_url)
    try:
        await connection.fetch(_LEADERS, lock_key(lock_name))
    finally:
        await connection.close()


async def kill_all(database_url: str) -> None:
    """End every session of every coordinator."""
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute(_ALL)
    finally:
        await connection.close()


async def office(database_url: str, lock_name: str) -> tuple[str, int, bool]:
    """Who leads or led last, in which epoch, and whether it left in order."""
    connection = await asyncpg.connect(database_url)
    try:
        row = await connection.fetchrow(_HOLDERS, lock_name)
        return row["holder_id"], row["epoch"], row["released"]
    finally:
        await connection.close()
