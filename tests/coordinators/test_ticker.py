"""When the next pass is due."""

import asyncio

import pytest

from codehub.clock import elapsed
from codehub.coordinators.ticker import Rhythm, Ticker

NEVER = 3600.0
SOON = 0.01


def ticker(idle: float = NEVER, active: float = NEVER, active_for: float = 30.0) -> Ticker:
    return Ticker(Rhythm(idle, active, active_for), elapsed, lambda: 0.5)


async def due(ticker: Ticker, within: float = 5.0) -> bool:
    try:
        async with asyncio.timeout(within):
            await ticker.next()
    except TimeoutError:
        return False
    return True


async def test_the_first_pass_is_due_at_once() -> None:
    assert await due(ticker())


async def test_without_a_hint_the_idle_interval_passes() -> None:
    quiet = ticker(idle=SOON)
    await quiet.next()
    assert await due(quiet)


async def test_a_hint_makes_the_next_pass_due_at_once() -> None:
    quiet = ticker()
    await quiet.next()
    quiet.hint()
    assert await due(quiet)


async def test_a_burst_of_hints_is_one_pass() -> None:
    busy = ticker()
    await busy.next()
    for _ in range(100):
        busy.hint()
    assert await due(busy)
    assert not await due(busy, within=0.05)


async def test_a_hint_during_a_pass_leads_to_one_more() -> None:
    busy = ticker()
    await busy.next()
    busy.hint()
    await asyncio.sleep(0)
    assert await due(busy)


async def test_hints_gather_for_as_long_as_the_last_pass_took() -> None:
    moment = 0.0
    busy = Ticker(Rhythm(NEVER, NEVER, 30.0), lambda: moment, lambda: 0.5)
    await busy.next()
    moment = 5.0
    busy.hint()
    waiting = asyncio.create_task(busy.next())
    for _ in range(3):
        await asyncio.sleep(0)
    busy.hint()
    assert not waiting.done()
    await waiting
    assert not await due(busy, within=0.3)


async def test_the_interval_is_short_while_there_is_work_and_long_afterwards() -> None:
    moment = 0.0
    busy = Ticker(Rhythm(NEVER, SOON, 30.0), lambda: moment, lambda: 0.5)
    await busy.next()
    busy.stay_active()
    assert await due(busy)
    moment = 31.0
    assert not await due(busy, within=0.05)


@pytest.mark.parametrize("turns", range(6))
async def test_a_shutdown_is_not_lost_when_a_hint_comes_with_it(turns: int) -> None:
    quiet = ticker()
    await quiet.next()
    waiting = asyncio.create_task(quiet.next())
    await asyncio.sleep(0)
    quiet.hint()
    for _ in range(turns):
        await asyncio.sleep(0)
    was_waiting = not waiting.done()
    waiting.cancel()
    await asyncio.wait([waiting])
    assert waiting.cancelled() is was_waiting
