"""Whoever asks first is answered first, however many ask after them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from codehub.store.engine import POOL_SIZE
from codehub.store.reads import Reads, opened_reads

CROWD = 2000


async def test_nobody_who_waits_is_overtaken(database_url: str) -> None:
    answered: list[int] = []
    async with opened_reads(database_url, "test") as reads, one_connection(reads):

        async def ask(number: int) -> None:
            answered.append(await reads.fetchval("SELECT $1::integer", number))

        async with asyncio.TaskGroup() as crowd:
            for number in range(CROWD):
                crowd.create_task(ask(number))
                await asyncio.sleep(0)  # somebody comes at every moment, also when the connection has just come free
    assert answered == list(range(CROWD))


@asynccontextmanager
async def one_connection(reads: Reads) -> AsyncIterator[None]:
    """For everybody: all others are taken."""
    taken = [asyncio.create_task(reads.fetchval("SELECT pg_sleep(60)")) for _ in range(POOL_SIZE - 1)]
    await asyncio.sleep(0)  # they stand in line before anybody else
    yield
    for each in taken:
        each.cancel()
    await asyncio.wait(taken)


async def test_a_question_that_is_given_up_leaves_its_turn_to_the_next(database_url: str) -> None:
    async with opened_reads(database_url, "test") as reads:
        asking = [asyncio.create_task(reads.fetchval("SELECT pg_sleep(60)")) for _ in range(POOL_SIZE * 2)]
        await asyncio.sleep(0)
        for each in asking:
            each.cancel()
        await asyncio.wait(asking)
        async with asyncio.timeout(60):
            assert await reads.fetchval("SELECT 1") == 1
