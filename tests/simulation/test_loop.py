"""The loop that everything stands on: time that passes by itself, processes that end or freeze, chance that repeats."""

import asyncio
from contextvars import copy_context
from random import Random

import pytest

from tests.simulation.loop import PROCESS, Process, State, Stuck, VirtualLoop


def in_process(loop: VirtualLoop, process: Process, story: list[str]) -> None:
    async def live() -> None:
        try:
            for number in range(3):
                story.append(f"{loop.time():.0f} {process.name}{number}")
                await asyncio.sleep(10)
        finally:
            story.append(f"{process.name} ends in order")

    context = copy_context()
    context.run(PROCESS.set, process)
    loop.create_task(live(), context=context)


def test_hours_pass_at_once() -> None:
    loop = VirtualLoop()
    loop.run_until_complete(asyncio.wait_for(asyncio.sleep(7200), 10_000))
    assert loop.time() == 7200


def test_one_that_crashes_is_never_resumed_and_ends_in_no_order() -> None:
    loop, story, process = VirtualLoop(), list[str](), Process("A")
    in_process(loop, process, story)
    loop.outside(15, setattr, process, "state", State.DEAD)
    loop.run_until_complete(asyncio.sleep(60))
    assert story == ["0 A0", "10 A1"]
    assert process.held, "what it would have gone on with is kept"


def test_one_that_is_frozen_goes_on_from_where_it_was() -> None:
    loop, story, process = VirtualLoop(), list[str](), Process("A")
    in_process(loop, process, story)
    loop.outside(5, setattr, process, "state", State.FROZEN)
    loop.outside(100, loop.go_on, process)
    loop.run_until_complete(asyncio.sleep(200))
    assert story == ["0 A0", "100 A1", "110 A2", "A ends in order"]


def test_nothing_to_wait_for_is_an_error() -> None:
    with pytest.raises(Stuck, match="nothing is ready"):
        VirtualLoop().run_until_complete(asyncio.Event().wait())


def test_a_circle_that_takes_no_time_is_an_error() -> None:
    async def round_and_round() -> None:
        while True:
            await asyncio.sleep(0)

    with pytest.raises(Stuck, match="time does not pass"):
        VirtualLoop().run_until_complete(round_and_round())


def order(seed: int) -> list[int]:
    loop, heard = VirtualLoop(Random(seed)), list[int]()
    for number in range(20):
        loop.call_soon(heard.append, number)
    loop.run_until_complete(asyncio.sleep(1))
    return heard


def test_a_seed_is_an_order() -> None:
    assert order(1) == order(1)
    assert order(1) != order(2)
    assert sorted(order(1)) == list(range(20))
