"""A hundred thousand workspaces in the shares of a large installation, made by one statement."""

import asyncpg

COUNT = 100_000

USERS = """
    INSERT INTO users (id, login, password_hash)
    SELECT gen_random_uuid(), 'user ' || n, '' FROM generate_series(0, 999) AS n
"""

# Of every thousand: 600 archived, 250 in standby, 80 running, 20 in error, 40 deleted, 4 starting, 2 being archived,
# 2 to be woken, 1 new, 1 observed but not judged. One archive in 200 has not been looked at.
WORKSPACES = """
    WITH owners AS (
        SELECT id, row_number() OVER () - 1 AS number FROM users
    ), crowd AS (
        SELECT n, n % 1000 AS share, gen_random_uuid() AS id, clock_timestamp() - n % 500 * interval '1 second' AS since
        FROM generate_series(1, $1::integer) AS n
    ), kinds AS (
        SELECT *,
            CASE WHEN share < 600 THEN 'ARCHIVED' WHEN share < 850 THEN 'STANDBY' WHEN share < 930 THEN 'RUNNING'
                 WHEN share < 950 THEN 'ERROR' WHEN share < 990 THEN 'DELETED' WHEN share < 998 THEN 'STANDBY'
                 WHEN share = 998 THEN 'PENDING' ELSE 'RUNNING' END AS phase,
            CASE WHEN share BETWEEN 990 AND 993 THEN 'STARTING' WHEN share BETWEEN 994 AND 995 THEN 'ARCHIVING'
                 ELSE 'NONE' END AS operation,
            CASE WHEN share < 600 THEN id || '/archive' END AS archive_key
        FROM crowd
    )
    INSERT INTO workspaces (
        id, owner_user_id, name, desired_state, deleted_at, phase, phase_changed_at, last_access_at, operation, op_step,
        op_id, op_clock_at, op_started_at, home_volume, archive_key, error_reason, observed_at, judged_at, conditions
    )
    SELECT kinds.id, owners.id, 'workspace ' || n,
        CASE WHEN phase = 'ERROR' OR operation = 'STARTING' OR share >= 996 THEN 'RUNNING'
             WHEN operation = 'ARCHIVING' THEN 'ARCHIVED' ELSE phase END,
        CASE WHEN phase = 'DELETED' THEN since END,
        phase, since, since, operation,
        CASE operation WHEN 'STARTING' THEN 'pull' WHEN 'ARCHIVING' THEN 'archive' END,
        CASE WHEN operation <> 'NONE' THEN kinds.id END,
        CASE WHEN operation <> 'NONE' THEN since END,
        CASE WHEN operation <> 'NONE' THEN since END,
        CASE WHEN phase IN ('STANDBY', 'RUNNING', 'ERROR') THEN 'ws-' || kinds.id END,
        archive_key,
        CASE WHEN phase = 'ERROR' THEN 'Timeout' END,
        CASE WHEN share <> 998 THEN since END,
        CASE WHEN share < 998 THEN since END,
        jsonb_build_object('storage.archive_ready', jsonb_build_object(
            'status', 'True', 'reason', 'ArchiveUploaded', 'message', repeat('.', 100),
            'last_transition_time', since, 'observed_from', since,
            'subject', CASE WHEN n % 200 <> 0 THEN archive_key END))
    FROM kinds JOIN owners ON owners.number = kinds.n / 100 % 1000
"""


async def make_crowd(database_url: str) -> None:
    """Without notifications, which nobody hears, and with the statistics that autovacuum would gather in time."""
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute(USERS)
        await connection.execute("ALTER TABLE workspaces DISABLE TRIGGER USER")
        await connection.execute(WORKSPACES, COUNT)
        await connection.execute("ALTER TABLE workspaces ENABLE TRIGGER USER")
        await connection.execute("VACUUM ANALYZE workspaces")
    finally:
        await connection.close()
