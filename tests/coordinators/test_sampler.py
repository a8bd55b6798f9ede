"""What running workspaces use, as it is looked at beside the Observer's work."""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID, uuid4

import pytest

from codehub import clock
from codehub.bus.usage import Usage
from codehub.coordinators import sampler as module
from codehub.coordinators.sampler import Sampler
from codehub.model.states import Desired, Phase
from codehub.model.usage import Sample
from codehub.runtimes.errors import RuntimeFault
from codehub.runtimes.memory import MemoryRuntime
from codehub.runtimes.memory_engine import Call, Fault, MemoryEngine
from codehub.runtimes.protocols import Instance, InstanceSpec, Resources, VolumeSpec
from tests.coordinators.house import House, until

LIMITS = Resources(memory_bytes=1000, cpus=2.0)
QUICK = 0.01


@dataclass
class Notebook:
    """Whoever is told what was seen."""

    samples: dict[UUID, list[Sample]] = field(default_factory=dict)

    async def write(self, workspace_id: UUID, sample: Sample) -> None:
        self.samples.setdefault(workspace_id, []).append(sample)

    async def until_sampled(self, workspace_id: UUID, is_it: Callable[[Sample], bool] = lambda _: True) -> Sample:
        async def found() -> Sample | None:
            return next((each for each in self.samples.get(workspace_id, ()) if is_it(each)), None)

        return await until(found, 60)


@dataclass
class Street:
    """Some running workspaces, and somebody who looks at them."""

    engine: MemoryEngine
    runtime: MemoryRuntime
    sampler: Sampler
    notebook: Notebook

    async def open(self, count: int) -> Sequence[Instance]:
        for _ in range(count):
            workspace_id, op_id = uuid4(), uuid4()
            await self.runtime.volumes.create(VolumeSpec(f"home-{workspace_id}", workspace_id, op_id, 1, None))
            await self.runtime.instances.start(
                InstanceSpec(
                    f"one-{workspace_id}", workspace_id, op_id, 1, f"home-{workspace_id}", "ide", 80, "/", {}, LIMITS
                )
            )
        return await self.runtime.instances.list()

    @asynccontextmanager
    async def watched(self, instances: Sequence[Instance]) -> AsyncIterator[None]:
        watching = asyncio.create_task(self.sampler.run(lambda: instances))
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.wait([watching])


@pytest.fixture
def street() -> Street:
    engine, notebook = MemoryEngine(images={"ide"}), Notebook()
    runtime = MemoryRuntime(engine, "test")
    return Street(engine, runtime, Sampler(runtime, notebook, QUICK, clock.elapsed, clock.now), notebook)


async def test_what_each_uses_is_told_with_its_limits_and_its_home(street: Street) -> None:
    instances = await street.open(10)
    (street.engine.home(instances[0].volume) / "file").write_bytes(b"x" * 5000)
    async with street.watched(instances):
        for each in instances:
            sample = await street.notebook.until_sampled(each.workspace_id, lambda each: each.home_bytes is not None)
            assert (sample.memory_bytes, sample.memory_limit_bytes, sample.pids) == (100, 1000, 1)
            assert sample.cpus_limit == 2.0
    homes = [each.home_bytes for each in street.notebook.samples[instances[0].workspace_id]]
    assert homes[-1] is not None
    assert homes[-1] >= 5000


async def test_one_that_cannot_be_looked_at_keeps_nobody_from_being_seen(
    street: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STATS_SECONDS", 0.05)
    broken, silent, fine = await street.open(3)
    street.engine.lay(Call.STATS, Fault(error=RuntimeFault("gone"), only=broken.id))
    street.engine.lay(Call.STATS, Fault(wait_seconds=math.inf, only=silent.id))
    street.engine.lay(Call.USAGE, Fault(error=RuntimeFault("gone"), only=fine.volume))
    async with street.watched([broken, silent, fine]):
        await street.notebook.until_sampled(fine.workspace_id, lambda each: each.cpus is not None)
    assert street.notebook.samples.keys() == {fine.workspace_id}


async def test_a_home_is_counted_once_in_a_long_while(street: Street) -> None:
    [instance] = await street.open(1)
    async with street.watched([instance]):
        await street.notebook.until_sampled(instance.workspace_id, lambda each: each.home_bytes is not None)
        street.engine.lay(Call.USAGE, Fault(error=RuntimeFault("not again")))
        seen = len(street.notebook.samples[instance.workspace_id])
        await until(_more(street.notebook, instance.workspace_id, seen + 20), 60)
    assert street.notebook.samples[instance.workspace_id][-1].home_bytes is not None


def _more(notebook: Notebook, workspace_id: UUID, count: int) -> Callable[[], Awaitable[bool | None]]:
    async def reached() -> bool | None:
        return len(notebook.samples[workspace_id]) >= count or None

    return reached


async def test_whoever_leads_tells_what_running_workspaces_use_and_of_others_nothing(house: House) -> None:
    house.replica(usage_interval=0.1)
    running, resting = await house.create(), await house.create(Desired.STANDBY)
    await house.until_phase(running, Phase.RUNNING)
    await house.until_phase(resting, Phase.STANDBY)
    usage = Usage(house.redis, f"{house.prefix}:usage", 0.1)

    async def busy() -> Sample | None:
        return next((each for each in await usage.series(running) if each.cpus is not None), None)

    assert (await until(busy, 60)).memory_bytes > 0
    assert await usage.series(resting) == []
    await house.wish(running, Desired.STANDBY)
    await house.until_phase(running, Phase.STANDBY)

    async def forgotten() -> bool | None:
        return running not in await usage.latest([running]) or None

    assert await until(forgotten, 60)
