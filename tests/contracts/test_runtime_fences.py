"""Who may touch what, and what is left when a call is cut short: contract 11, on every runtime."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from codehub.runtimes.errors import NotFound, RuntimeFault
from codehub.runtimes.protocols import InstanceState, Runtime
from tests.contracts.runtime_kit import RuntimeKit
from tests.contracts.test_runtime import docker_image, kit

__all__ = ["docker_image", "kit"]


class Deposed(Exception):
    """What a fence raises when the lease has run out."""


class Fence:
    """Open until it is closed; `at` closes it, or does something else, at the n-th act from now."""

    def __init__(self) -> None:
        self.passed = 0
        self._nth: int | None = None
        self._then: Callable[[], object] = lambda: None

    def at(self, nth: int, then: Callable[[], object]) -> None:
        self.passed, self._nth, self._then = 0, nth, then

    def close(self) -> None:
        def refuse() -> None:
            self._nth = (self._nth or 0) + 1  # the next one too
            raise Deposed

        self.at(1, refuse)

    def check(self) -> None:
        self.passed += 1
        if self.passed == self._nth:
            self._then()


async def state(runtime: Runtime) -> object:
    instances = sorted((each.name, each.state.value) for each in await runtime.instances.list())
    return instances, sorted(each.name for each in await runtime.volumes.list())


async def test_nothing_is_done_behind_a_closed_fence(kit: RuntimeKit) -> None:
    fence = Fence()
    runtime, witness = kit.open(kit.installation, fence.check), kit.open(kit.installation)
    instance = await kit.running(runtime)
    unused, empty = kit.home(), kit.home()
    await runtime.volumes.create(empty)
    before = await state(witness)
    fence.close()
    calls: list[Awaitable[object]] = [
        runtime.volumes.create(unused),
        runtime.volumes.delete(empty.name),
        runtime.instances.start(kit.instance(empty)),
        runtime.instances.stop(instance.id, 1),
    ]
    if kit.present_image:
        calls.append(runtime.instances.pull(kit.present_image, lambda _: None))
    for call in calls:
        with pytest.raises(Deposed):
            await call
    assert await state(witness) == before
    assert await witness.instances.probe(instance)


async def test_looking_needs_no_leadership(kit: RuntimeKit) -> None:
    fence = Fence()
    runtime = kit.open(kit.installation, fence.check)
    instance = await kit.running(runtime)
    fence.close()
    assert await runtime.engine() == await runtime.engine()
    assert len(await runtime.instances.list()) == len(await runtime.volumes.list()) == 1
    assert await runtime.instances.probe(instance)
    assert (await runtime.instances.stats(instance.id)).pids > 0
    await runtime.volumes.usage(instance.volume)
    await runtime.engine()


@pytest.mark.parametrize("nth", range(1, 7))
async def test_a_start_cut_short_anywhere_is_completed_by_the_next(kit: RuntimeKit, nth: int) -> None:
    fence = Fence()
    runtime, successor = kit.open(kit.installation, fence.check), kit.open(kit.installation)
    home = kit.home()
    await successor.volumes.create(home)
    spec = kit.instance(home)
    cut = asyncio.ensure_future(runtime.instances.start(spec))
    fence.at(nth, cut.cancel)
    await asyncio.wait([cut])
    instance_id = await successor.instances.start(spec)
    assert [(each.id, each.state) for each in await successor.instances.list()] == [
        (instance_id, InstanceState.RUNNING)
    ]
    await kit.answering(successor, instance_id)


@pytest.mark.parametrize("nth", [1, 2])
async def test_a_stop_cut_short_anywhere_is_completed_by_the_next(kit: RuntimeKit, nth: int) -> None:
    fence = Fence()
    runtime, successor = kit.open(kit.installation, fence.check), kit.open(kit.installation)
    instance = await kit.running(successor)
    cut = asyncio.ensure_future(runtime.instances.stop(instance.id, 1))
    fence.at(nth, cut.cancel)
    await asyncio.wait([cut])
    await successor.instances.stop(instance.id, 1)
    assert await successor.instances.list() == ()


async def test_homes_cut_short_are_made_and_deleted_by_the_next(kit: RuntimeKit) -> None:
    fence = Fence()
    runtime, successor = kit.open(kit.installation, fence.check), kit.open(kit.installation)
    home = kit.home()
    for call, following, left in (
        (runtime.volumes.create(home), successor.volumes.create(home), 1),
        (runtime.volumes.delete(home.name), successor.volumes.delete(home.name), 0),
    ):
        cut = asyncio.ensure_future(call)
        fence.at(1, cut.cancel)
        await asyncio.wait([cut])
        await following
        assert len(await successor.volumes.list()) == left


async def test_another_installation_is_neither_seen_nor_touched(kit: RuntimeKit) -> None:
    runtime, stranger = kit.open(kit.installation), kit.open(f"{kit.installation}-other")
    instance = await kit.running(runtime)
    before = await state(runtime)
    assert await state(stranger) == ([], [])
    await stranger.instances.stop(instance.id, 0)
    await stranger.volumes.delete(instance.volume)
    with pytest.raises(NotFound):
        await stranger.instances.stats(instance.id)
    with pytest.raises(NotFound):
        await anext(stranger.instances.logs(instance.id, 1))
    with pytest.raises(NotFound):
        await stranger.volumes.usage(instance.volume)
    assert await state(runtime) == before


async def test_a_name_of_another_installation_is_refused(kit: RuntimeKit) -> None:
    runtime, stranger = kit.open(kit.installation), kit.open(f"{kit.installation}-other")
    home, foreign = kit.home(), kit.home()
    await runtime.volumes.create(home)
    await stranger.volumes.create(foreign)
    with pytest.raises(RuntimeFault):
        await stranger.volumes.create(home)
    spec = kit.instance(home)
    await runtime.instances.start(spec)
    with pytest.raises(NotFound):
        await stranger.instances.start(kit.instance(home))
    with pytest.raises(RuntimeFault):
        await stranger.instances.start(replace(kit.instance(foreign), name=spec.name))
    assert [each.name for each in await runtime.instances.list()] == [spec.name]
