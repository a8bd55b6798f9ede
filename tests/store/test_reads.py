"""Whoever asks first is answered first, however many ask after them."""

import asyncio

from codehub.store.engine import POOL_SIZE
from codehub.store.reads import opened_reads


async def test_nobody_who_waits_is_overtaken(database_url: str) -> None:
    answered: list[int] = []
    async with opened_reads(database_url, "test") as reads:

        async def ask(number: int) -> None:
            answered.append(await reads.fetchval("SELECT $1::integer FROM pg_sleep(0.01)", number))
            await reads.execute("SELECT")  # comes back at once, while others still wait

        await asyncio.gather(*(ask(number) for number in range(POOL_SIZE * 5)))
    assert max(abs(place - number) for place, number in enumerate(answered)) < POOL_SIZE


async def test_a_question_that_is_given_up_leaves_its_turn_to_the_next(database_url: str) -> None:
    async with opened_reads(database_url, "test") as reads:
        asking = [asyncio.create_task(reads.fetchval("SELECT pg_sleep(60)")) for _ in range(POOL_SIZE * 2)]
        await asyncio.sleep(0)
        for each in asking:
            each.cancel()
        await asyncio.wait(asking)
        async with asyncio.timeout(10):
            assert await reads.fetchval("SELECT 1") == 1
