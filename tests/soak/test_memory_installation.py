"""The smallest soak: one who listens hears of workspaces, and what that takes is sampled."""

import asyncio

from tests.coordinators.house import until
from tests.soak.crowd import Crowd
from tests.soak.memory_installation import memory_installation
from tests.soak.series import BOUNDS, counted_in

SECONDS = 120


async def test_whoever_listens_hears_of_workspaces_and_every_figure_can_be_judged() -> None:
    crowd = Crowd()

    async def heard() -> bool | None:
        return crowd.heard_bytes > 0 or None

    async with memory_installation(2) as memory, asyncio.TaskGroup() as tasks:
        listening = tasks.create_task(crowd.listen(memory.address, memory.tokens[0]))
        await until(heard, SECONDS)
        taken = [await memory.sampled.sample() for _ in range(2)]
        listening.cancel()
    assert {counted_in(figure) for figure in taken[-1]} == set(BOUNDS)
    assert memory.sampled.replaced == 0
