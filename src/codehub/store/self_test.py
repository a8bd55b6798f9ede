"""Whether a database can carry leadership at all. Found out at the start, because later it would be two leaders."""

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from codehub.errors import ServiceError
from codehub.store.engine import single

_PID = text("SELECT pg_backend_pid()")
_SETTING = text("SELECT current_setting('idle_session_timeout')")
_CANDIDATES = text("""
    SELECT EXISTS (
        SELECT FROM pg_stat_activity
        WHERE application_name LIKE 'codehub coordinator:%' AND datname = current_database()
    )
""")
LEASE = "4321ms"
REFUSES_SETTINGS = "08P01"
"""How a pooler betrays itself before it is asked: it does not pass the settings of a session on."""


async def require_direct_connection(database_url: str) -> None:
    """Refuse a read-only standby, and a pooler that gives one server session to several clients in turn: both grant
    the same advisory lock twice."""
    pooler = ServiceError(
        "A pooler stands between codehub and PostgreSQL and shares sessions between clients.",
        "Point DATABASE_URL at PostgreSQL itself, or at a pooler in session mode that passes settings on.",
    )
    engine = single(database_url, "codehub self-test", keeps_statements=False, idle_session_timeout=LEASE)
    try:
        async with engine.connect() as first, engine.connect() as second:
            before = await first.scalar(_PID)
            await first.commit()
            other = await second.scalar(_PID)  # and stays in its transaction
            after = await first.scalar(_PID)
            setting = await first.scalar(_SETTING)
            standby = await first.scalar(text("SELECT pg_is_in_recovery()"))
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) == REFUSES_SETTINGS:
            raise pooler from error
        raise
    finally:
        await engine.dispose()
    if standby:
        raise ServiceError("The database is a read-only standby.", "Point DATABASE_URL at the primary.")
    if before != after or before == other or setting != LEASE:
        raise pooler


async def other_candidates(database_url: str) -> bool:
    """Whether any process is seen to hold or seek a coordinator's seat. A database that does not answer shows none."""
    engine = single(database_url, "codehub start")
    try:
        async with engine.connect() as connection:
            return bool(await connection.scalar(_CANDIDATES))
    except (OSError, DBAPIError):
        return False
    finally:
        await engine.dispose()
