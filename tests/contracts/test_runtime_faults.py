"""The switches of the remembered runtime: each does what it says, and nothing happens by itself."""

import asyncio
import math
import uuid
from contextlib import aclosing

import pytest

from codehub.model.templates import STANDARD_REGISTRY
from codehub.runtimes.errors import ImageUnavailable, RegistryAway, RuntimeAway, RuntimeFault
from codehub.runtimes.memory import MemoryRuntime
from codehub.runtimes.memory_engine import Behaviour, Call, Fault, MemoryEngine
from codehub.runtimes.protocols import Instance, InstanceSpec, InstanceState, VolumeSpec
from tests.contracts.runtime_kit import memory_kit

BROKEN = RuntimeFault("switched on")


class Bench:
    """A runtime of one workspace whose sleeps are remembered and not slept."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.engine = MemoryEngine(sleep=self.sleep, images={"tool"})
        self.runtime = MemoryRuntime(self.engine, "bench")
        op_id = uuid.uuid4()
        self.home = VolumeSpec("home", uuid.uuid4(), op_id, 1)
        self.spec = InstanceSpec("one", self.home.workspace_id, op_id, 1, "home", "tool", 8080, "/")

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def start(self) -> Instance:
        await self.runtime.volumes.create(self.home)
        await self.runtime.instances.start(self.spec)
        return await self.seen()

    async def seen(self) -> Instance:
        (instance,) = await self.runtime.instances.list()
        return instance


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def test_a_call_fails_n_times_before_its_effect(bench: Bench) -> None:
    bench.engine.lay(Call.CREATE_VOLUME, Fault(error=BROKEN, times=2))
    for _ in range(2):
        with pytest.raises(RuntimeFault):
            await bench.runtime.volumes.create(bench.home)
        assert await bench.runtime.volumes.list() == ()
    await bench.runtime.volumes.create(bench.home)
    assert len(await bench.runtime.volumes.list()) == 1


async def test_a_call_fails_after_its_effect(bench: Bench) -> None:
    await bench.runtime.volumes.create(bench.home)
    bench.engine.lay(Call.START, Fault(error=BROKEN, after_effect=True, times=1))
    with pytest.raises(RuntimeFault):
        await bench.runtime.instances.start(bench.spec)
    assert await bench.runtime.instances.start(bench.spec) == (await bench.seen()).id


async def test_a_slow_call_sleeps_only_as_it_is_given(bench: Bench) -> None:
    bench.engine.lay(Call.LIST_VOLUMES, Fault(wait_seconds=30))
    await bench.runtime.volumes.list()
    assert bench.slept == [30]


@pytest.mark.parametrize(("after_effect", "homes"), [(False, 0), (True, 1)])
async def test_a_call_that_never_returns_can_be_cancelled(bench: Bench, after_effect: bool, homes: int) -> None:
    bench.engine.lay(Call.CREATE_VOLUME, Fault(wait_seconds=math.inf, after_effect=after_effect))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await bench.runtime.volumes.create(bench.home)
    assert len(await bench.runtime.volumes.list()) == homes


async def test_a_fault_can_be_meant_for_one_and_be_lifted(bench: Bench) -> None:
    bench.engine.lay(Call.DELETE_VOLUME, Fault(error=BROKEN, only="other"))
    bench.engine.lay(Call.DELETE_VOLUME, Fault(error=BROKEN, only="home"))
    with pytest.raises(RuntimeFault):
        await bench.runtime.volumes.delete("home")
    bench.engine.clear_faults()
    await bench.runtime.volumes.delete("home")


async def test_listings_can_be_old_or_leave_things_out(bench: Bench) -> None:
    bench.engine.freeze_listings()
    await bench.runtime.volumes.create(bench.home)
    assert await bench.runtime.volumes.list() == ()
    bench.engine.thaw_listings()
    assert len(await bench.runtime.volumes.list()) == 1
    bench.engine.hidden.add("home")
    assert await bench.runtime.volumes.list() == ()


async def test_an_old_listing_shows_states_as_they_were(bench: Bench) -> None:
    await bench.start()
    bench.engine.freeze_listings()
    bench.engine.kill(bench.home.workspace_id)
    assert (await bench.seen()).state is InstanceState.RUNNING
    bench.engine.thaw_listings()
    assert (await bench.seen()).message == "exited with code 137"


async def test_an_engine_goes_away_and_comes_back_with_everything(bench: Bench) -> None:
    instance = await bench.start()
    async with aclosing(bench.runtime.instances.watch()) as events:
        following = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0)
        bench.engine.go_away()
        with pytest.raises(RuntimeAway):
            await following
    assert not await bench.runtime.instances.probe(instance)
    bench.engine.come_back()
    assert await bench.seen() == instance


async def test_another_engine_has_another_identity_and_nothing_on_it(bench: Bench) -> None:
    await bench.start()
    before = await bench.runtime.engine()
    bench.engine.replace_engine()
    assert await bench.runtime.engine() != before
    assert await bench.runtime.instances.list() == ()
    assert await bench.runtime.volumes.list() == ()


async def test_things_can_be_removed_from_outside(bench: Bench) -> None:
    await bench.start()
    bench.engine.lose_volume("home")
    assert await bench.runtime.volumes.list() == ()
    bench.engine.lose_instances(bench.home.workspace_id)
    assert await bench.runtime.instances.list() == ()


async def test_an_ide_can_be_slow_to_answer_or_never_answer(bench: Bench) -> None:
    bench.engine.behaviours["tool"] = Behaviour(silent_probes=2)
    instance = await bench.start()
    assert [await bench.runtime.instances.probe(instance) for _ in range(3)] == [False, False, True]
    bench.engine.behaviours[bench.home.workspace_id] = Behaviour(answers=False)
    assert not await bench.runtime.instances.probe(instance)


async def test_an_ide_dies_again_and_again_after_it_was_ready(bench: Bench) -> None:
    bench.engine.behaviours["tool"] = Behaviour(dies_after_probes=1, exit_code=3)
    for _ in range(3):
        instance = await bench.start()
        assert [await bench.runtime.instances.probe(instance) for _ in range(2)] == [True, False]
        assert (await bench.seen()).message == "exited with code 3"


async def test_images_are_missing_or_their_registry_is_away(bench: Bench) -> None:
    with pytest.raises(ImageUnavailable):
        await bench.runtime.instances.pull("other", lambda _: None)
    bench.engine.registries_away.add(STANDARD_REGISTRY)
    with pytest.raises(RegistryAway):
        await bench.runtime.instances.pull("other", lambda _: None)
    await bench.runtime.instances.pull("tool", lambda _: None)
    bench.engine.registries_away.clear()
    bench.engine.registry.add("other")
    await bench.runtime.instances.pull("other", lambda _: None)


async def test_the_same_calls_make_the_same_history() -> None:
    async def history() -> list[str]:
        async with memory_kit() as kit:
            runtime = kit.open(kit.installation)
            return [(await kit.running(runtime)).id for _ in range(3)]

    assert await history() == await history()
