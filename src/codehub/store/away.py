"""Telling a database that is away from a statement that is wrong: the first passes, the second is a defect."""

import asyncpg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

DISK_FULL = "53100"
SESSION_ENDED = ("08", "57P", "53", "25P03", "25P04", "55P03")
"""How the SQLSTATE begins when it is the server that cannot: connection trouble, shutdown, resources used up, or a lock
that somebody holds for too long."""

FOREIGN = (DBAPIError, PoolTimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError)
"""What the database's drivers raise. Being one of these does not mean being away."""


def is_full(error: Exception) -> bool:
    """Whether it had no room on its disk for what was to be written."""
    return _sqlstate(error) == DISK_FULL


def is_away(error: Exception) -> bool:
    cause = _cause(error)
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    if isinstance(cause, PoolTimeoutError | OSError | asyncpg.InterfaceError):
        return True
    return _sqlstate(error).startswith(SESSION_ENDED)


def _cause(error: Exception) -> BaseException:
    return error.orig if isinstance(error, DBAPIError) and error.orig is not None else error


def _sqlstate(error: Exception) -> str:
    return getattr(_cause(error), "sqlstate", None) or ""
