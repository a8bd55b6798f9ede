"""Telling a database that is away from a statement that is wrong: the first passes, the second is a defect."""

import asyncpg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

SESSION_ENDED = ("08", "57P", "53", "25P03", "25P04", "55P03")
"""How the SQLSTATE begins when it is the server that cannot: connection trouble, shutdown, resources used up, or a lock
that somebody holds for too long."""

FOREIGN = (DBAPIError, PoolTimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError)
"""What the database's drivers raise. Being one of these does not mean being away."""


def is_away(error: Exception) -> bool:
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    if isinstance(cause, PoolTimeoutError | OSError | asyncpg.InterfaceError):
        return True
    return (getattr(cause, "sqlstate", None) or "").startswith(SESSION_ENDED)
