"""Connections to PostgreSQL: a pool for the API, single ones for everything that holds a lock."""

from typing import Any

from sqlalchemy import make_url
from sqlalchemy.engine import URL
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

POOL_SIZE = 10
CONNECT_SECONDS = 5.0
PATIENCE_MS = 5000
"""How long a transaction of a request waits for another one, and how long one that has stopped keeps others waiting."""


def async_url(database_url: str) -> URL:
    """The same address, for the asyncpg driver."""
    return make_url(database_url).set(drivername="postgresql+asyncpg")


def pool(database_url: str, application_name: str) -> AsyncEngine:
    """Connections for short transactions of requests. Each is tried before use, so that a restart of the server costs
    no request that had not yet begun."""
    return create_async_engine(
        async_url(database_url),
        pool_size=POOL_SIZE,
        pool_pre_ping=True,
        hide_parameters=True,  # an error is logged with its statement, and what people sent must not be in it
        connect_args={
            "timeout": CONNECT_SECONDS,
            "server_settings": {
                "application_name": application_name,
                "lock_timeout": str(PATIENCE_MS),
                "idle_in_transaction_session_timeout": str(PATIENCE_MS),
            },
        },
    )


UNNAMED: dict[str, Any] = {"prepared_statement_cache_size": 0, "prepared_statement_name_func": lambda: ""}
"""Statements that the server forgets at once, so that nothing stumbles over those of another client."""


def single(
    database_url: str, application_name: str, *, keeps_statements: bool = True, **server_settings: str
) -> AsyncEngine:
    """Connections that are opened when asked for and closed when given back."""
    return create_async_engine(
        async_url(database_url),
        poolclass=NullPool,
        hide_parameters=True,
        connect_args={
            "timeout": CONNECT_SECONDS,
            "server_settings": {"application_name": application_name, **server_settings},
            **({} if keeps_statements else UNNAMED),
        },
    )
