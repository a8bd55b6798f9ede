"""What a container uses, as it is looked at now and then on the real engine."""

import asyncio
from contextlib import suppress
from uuid import UUID

from codehub import clock
from codehub.coordinators.sampler import Sampler
from codehub.model.usage import Sample
from codehub.runtimes.errors import NotFound
from tests.runtimes.docker.inside import LIMITS, House


class Notebook(list[Sample]):
    async def write(self, workspace_id: UUID, sample: Sample) -> None:  # noqa: ARG002 (there is one)
        self.append(sample)


async def test_a_busy_container_is_seen_to_be_busy(house: House) -> None:
    workspace, seen = await house.workspace(), Notebook()
    await house.says(workspace, "dd if=/dev/zero of=$HOME/file bs=1M count=1; (while :; do :; done) > /dev/null 2>&1 &")
    watching = asyncio.create_task(Sampler(house.runtime, seen, 0.2, clock.elapsed, clock.now).run(lambda: [workspace]))
    async with asyncio.timeout(60):
        while not any(each.cpus and each.home_bytes for each in seen):
            await asyncio.sleep(0.02)
    watching.cancel()
    await asyncio.wait([watching])
    assert {(each.cpus_limit, each.memory_limit_bytes) for each in seen} == {(LIMITS.cpus, LIMITS.memory_bytes)}
    assert seen[-1].home_bytes is not None
    assert seen[-1].home_bytes >= 1024**2


async def test_a_container_that_ends_in_the_moment_of_a_look_is_not_there(house: House) -> None:
    """The engine answers with nothing then."""
    workspace = await house.workspace()

    async def look_until_it_is_gone() -> None:
        with suppress(NotFound):
            while True:
                await house.runtime.instances.stats(workspace.id)

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        for _ in range(8):
            group.create_task(look_until_it_is_gone())
        await house.runtime.instances.stats(workspace.id)
        await house.runtime.instances.stop(workspace.id, 0)
