"""Hints over a real Redis, which may be stopped, frozen and started again."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from codehub.bus.connect import connect
from codehub.bus.hints import NAMED_AT_MOST, Hints, Listener
from codehub.clock import elapsed
from codehub.stack.account import Account
from tests.coordinators.house import until
from tests.coordinators.own_service import own_redis


@asynccontextmanager
async def listening(hints: Hints, listener: Listener) -> AsyncIterator[list[UUID | None]]:
    """What is heard, from the first connect on."""
    heard: list[UUID | None] = []
    task = asyncio.create_task(hints.listen(listener, heard.append))
    try:
        await until_heard(heard, None)
        yield heard
    finally:
        task.cancel()
        await asyncio.wait([task])


async def until_heard(heard: list[UUID | None], hint: UUID | None, times: int = 1) -> None:
    async def enough() -> bool | None:
        return heard.count(hint) >= times or None

    await until(enough, 30)


async def test_a_hint_reaches_its_listener_and_nobody_else(redis_url: str, redis_prefix: Callable[[], str]) -> None:
    hints, workspace_id = Hints(redis := connect(redis_url), redis_prefix()), uuid4()
    async with listening(hints, Listener.OBSERVER) as observer, listening(hints, Listener.CONTROLLER) as controller:
        await hints.wake(Listener.OBSERVER, workspace_id)
        await until_heard(observer, workspace_id)
        await hints.wake(Listener.CONTROLLER)
        await until_heard(controller, None, times=2)
        assert workspace_id not in controller
    await redis.aclose()


async def test_a_few_workspaces_are_named_and_many_are_one_hint_for_all(
    redis_url: str, redis_prefix: Callable[[], str]
) -> None:
    hints, few = Hints(redis := connect(redis_url), redis_prefix()), [uuid4() for _ in range(NAMED_AT_MOST)]
    async with listening(hints, Listener.OBSERVER) as heard:
        await hints.wake(Listener.OBSERVER, *few)
        await hints.wake(Listener.OBSERVER, *few, uuid4())
        await until_heard(heard, None, times=2)
        assert heard == [None, *few, None]
    await redis.aclose()


async def test_whoever_listens_again_is_told_that_hints_may_have_been_missed(
    services_folder: Path, account: Account
) -> None:
    async with own_redis(services_folder, account) as (server, url):
        hints, workspace_id = Hints(redis := connect(url), "test"), uuid4()
        async with listening(hints, Listener.OBSERVER) as heard:
            await server.stop()
            await hints.wake(Listener.OBSERVER, uuid4())
            await server.start()
            await until_heard(heard, None, times=2)
            await hints.wake(Listener.OBSERVER, workspace_id)
            await until_heard(heard, workspace_id)
        await redis.aclose()


async def test_a_redis_that_hangs_holds_nobody_up(services_folder: Path, account: Account) -> None:
    async with own_redis(services_folder, account) as (server, url):
        hints = Hints(redis := connect(url), "test")
        await hints.wake(Listener.OBSERVER)
        server.freeze()
        began = elapsed()
        for _ in range(100):
            await hints.wake(Listener.OBSERVER, uuid4())
        assert elapsed() - began < 10
        await redis.aclose()


@pytest.mark.parametrize("turns", range(0, 60, 3))
async def test_a_listener_that_is_cancelled_ends(redis_url: str, turns: int) -> None:
    redis = connect(redis_url)
    task = asyncio.create_task(Hints(redis, "test").listen(Listener.OBSERVER, lambda _: None))
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=30)
    assert done
    await redis.aclose()
