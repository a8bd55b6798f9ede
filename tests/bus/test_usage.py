"""What workspaces used, on its way through Redis: the last hour, and nothing where that is not known."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from uuid import uuid4

import orjson
import pytest
from redis.asyncio import Redis

from codehub.bus.connect import connect
from codehub.bus.usage import KEPT_SECONDS, Usage
from codehub.model.usage import Sample
from tests.coordinators.house import until

T = TypeVar("T")
EVERY = 600.0
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
SAMPLE = Sample(NOON, 0.5, 2.0, 1000, 2000, 3, 4000)


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    redis = connect(redis_url)
    yield redis
    await redis.aclose()


@pytest.fixture
def prefix(redis_prefix: Callable[[], str]) -> str:
    return redis_prefix()


async def known(look: Callable[[], Awaitable[T]]) -> T:
    """What is found once something is: a Redis that takes long to answer on a busy machine counts as away."""

    async def found() -> T | None:
        return await look() or None

    return await until(found, 60)


async def test_what_was_written_is_read_oldest_first_and_the_newest_at_once_for_many(redis: Redis, prefix: str) -> None:
    usage, one, other, unknown = Usage(redis, prefix, EVERY), uuid4(), uuid4(), uuid4()
    first = Sample(NOON, None, None, 1000, None, 3, None)
    second = replace(SAMPLE, at=NOON + timedelta(seconds=15))
    for sample in (first, second):
        await usage.write(one, sample)
    await usage.write(other, SAMPLE)
    assert await known(lambda: usage.series(one)) == [first, second]
    assert await known(lambda: usage.latest([one, unknown, other])) == {one: second, other: SAMPLE}
    assert await usage.latest([]) == {}


async def test_an_hour_of_it_is_kept_and_no_longer(redis: Redis, prefix: str) -> None:
    usage, workspace = Usage(redis, prefix, EVERY), uuid4()
    samples = [replace(SAMPLE, pids=number) for number in range(10)]
    for sample in samples:
        await usage.write(workspace, sample)
    assert await known(lambda: usage.series(workspace)) == samples[-6:]
    assert 0 < await redis.ttl(f"{prefix}:{workspace}") <= KEPT_SECONDS


async def test_what_is_not_looked_at_any_more_is_not_told_as_present(redis: Redis, prefix: str) -> None:
    usage, workspace = Usage(redis, prefix, 0.001), uuid4()
    await usage.write(workspace, SAMPLE)

    async def forgotten() -> bool | None:
        return not await usage.latest([workspace]) or None

    assert await until(forgotten, 60)
    assert await known(lambda: usage.series(workspace)) == [SAMPLE]


async def test_samples_of_another_release_are_left_out(redis: Redis, prefix: str) -> None:
    usage, workspace = Usage(redis, prefix, EVERY), uuid4()
    await usage.write(workspace, SAMPLE)
    strange = orjson.dumps([NOON.timestamp(), 1])
    await redis.rpush(f"{prefix}:{workspace}", strange)
    await redis.set(f"{prefix}:{workspace}:newest", strange)
    assert await known(lambda: usage.series(workspace)) == [SAMPLE]
    assert await usage.latest([workspace]) == {}


async def test_without_redis_nothing_is_known_and_nobody_fails(prefix: str) -> None:
    nobody = connect("redis://127.0.0.1:1")
    usage, workspace = Usage(nobody, prefix, EVERY), uuid4()
    await usage.write(workspace, SAMPLE)
    assert (await usage.series(workspace), await usage.latest([workspace])) == ([], {})
    await nobody.aclose()
