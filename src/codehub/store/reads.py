"""Connections for the questions that nearly every request asks, each one statement."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from codehub.store.engine import CONNECT_SECONDS, POOL_SIZE


class Reads:
    """A pool whose turns come in the order in which they were asked for.

    The driver's own gives a connection that comes free to whoever asks in that moment, and who has waited for one waits
    again behind all others: under load some requests waited ten times as long as most."""

    def __init__(self, pool: asyncpg.Pool, size: int) -> None:
        self.pool = pool
        self._turn = asyncio.Semaphore(size)

    async def fetch(self, statement: str, *arguments: object) -> list[asyncpg.Record]:
        async with self._turn:
            rows: list[asyncpg.Record] = await self.pool.fetch(statement, *arguments)
            return rows

    async def fetchrow(self, statement: str, *arguments: object) -> asyncpg.Record | None:
        async with self._turn:
            return await self.pool.fetchrow(statement, *arguments)

    async def fetchval(self, statement: str, *arguments: object) -> Any:  # noqa: ANN401 (as the driver's)
        async with self._turn:
            return await self.pool.fetchval(statement, *arguments)

    async def execute(self, statement: str, *arguments: object) -> None:
        async with self._turn:
            await self.pool.execute(statement, *arguments)


@asynccontextmanager
async def opened_reads(database_url: str, application_name: str) -> AsyncIterator[Reads]:
    """Nothing is connected before it is asked for: a database that is away is found when it is back."""
    async with asyncpg.create_pool(
        database_url,
        min_size=0,
        max_size=POOL_SIZE,
        timeout=CONNECT_SECONDS,
        reset=_leave_as_it_is,
        server_settings={"application_name": application_name},
    ) as pool:
        yield Reads(pool, POOL_SIZE)


async def _leave_as_it_is(_connection: asyncpg.Connection) -> None:
    """Each use is one statement, which leaves nothing behind: to clean up after it would double what it costs."""
