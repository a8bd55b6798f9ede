"""What is old goes, in batches: the story of workspaces, the audit log, what is left of logins and holds, and rows of
workspaces that were deleted long ago."""

from collections.abc import Collection
from uuid import UUID

from sqlalchemy import TextClause, Uuid, bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY

from codehub.settings.groups import AuthConfig, RetentionConfig
from codehub.store.replays import KEPT_SECONDS
from codehub.store.seat import PostgresSeat

BATCH = 1000

_BEFORE = "clock_timestamp() - make_interval(secs => :seconds)"


def _older(table: str, column: str, key: str = "id") -> TextClause:
    """Delete the oldest rows whose time is past, and still is when it is their turn: somebody may prolong one. The
    names are constants of this module."""
    return text(
        f"DELETE FROM {table} WHERE {column} < {_BEFORE} AND ({key}) IN"  # noqa: S608
        f" (SELECT {key} FROM {table} WHERE {column} < {_BEFORE} ORDER BY {column} LIMIT :batch)"
    )


_BY_AGE = {
    "workspace_events": _older("workspace_events", "at"),
    "audit_log": _older("audit_log", "at"),
    "sessions": _older("sessions", "expires_at"),
    "login_codes": _older("login_codes", "expires_at", "secret_hash"),
    "login_attempts": _older("login_attempts", "at"),
    "idempotency_keys": _older("idempotency_keys", "created_at", "user_id, key"),
    "gc_rounds": _older("gc_rounds", "ended_at"),
    "holds": _older("holds", "ends_at"),
}
_MAY_PRUNE_THE_AUDIT_LOG = text("SELECT set_config('codehub.prunes_audit_log', 'yes', true)")
_DELETED_WORKSPACES = text(f"""
    DELETE FROM workspaces WHERE id IN (
        SELECT id FROM workspaces
        WHERE deleted_at < {_BEFORE} AND phase = 'DELETED' AND operation = 'NONE' AND id <> ALL (:still_there)
          AND NOT EXISTS (SELECT FROM archives WHERE archives.workspace_id = workspaces.id)
        ORDER BY deleted_at LIMIT :batch
    )
""").bindparams(bindparam("still_there", type_=ARRAY(Uuid)))  # noqa: S608 (a constant of this module)


async def prune_by_age(seat: PostgresSeat, retention: RetentionConfig, auth: AuthConfig) -> dict[str, int]:
    """How many rows left each table; tables that none left are not named."""
    seconds = {
        "workspace_events": retention.events_seconds,
        "audit_log": retention.audit_seconds,
        "sessions": 0,
        "login_codes": 0,
        "login_attempts": auth.login_window_seconds,
        "idempotency_keys": KEPT_SECONDS,
        "gc_rounds": retention.events_seconds,
        "holds": 0,
    }
    pruned = {table: await _prune(seat, _BY_AGE[table], seconds=age) for table, age in seconds.items()}
    return {table: count for table, count in pruned.items() if count}


async def prune_workspaces(seat: PostgresSeat, retention: RetentionConfig, still_there: Collection[UUID]) -> int:
    """Rows of workspaces that were deleted long ago, and have left nothing behind: whose row is gone is not known any
    more, and a volume that nobody knows is kept for ever. How many went."""
    return await _prune(seat, _DELETED_WORKSPACES, seconds=retention.deleted_seconds, still_there=list(still_there))


async def _prune(seat: PostgresSeat, statement: TextClause, **values: object) -> int:
    total = 0
    while True:
        async with seat.transaction() as connection:
            await connection.execute(_MAY_PRUNE_THE_AUDIT_LOG)
            pruned = (await connection.execute(statement, {**values, "batch": BATCH})).rowcount
        total += pruned
        if pruned < BATCH:
            return total
