"""What every runtime promises, shown on the remembered one, on sandboxed processes and on a real Docker engine."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from codehub.runtimes.errors import (
    ImageUnavailable,
    InUse,
    NotFound,
    RegistryAway,
    RuntimeAway,
    RuntimeFault,
)
from codehub.runtimes.protocols import InstanceState, PullProgress, Runtime, Volume
from tests.contracts.runtime_kit import RuntimeKit, another, docker_kit, memory_kit
from tests.runtimes.docker.tool_image import tool_image
from tests.runtimes.local.kit import local_kit


@pytest.fixture(scope="session")
def docker_image() -> Iterator[str]:
    with tool_image() as image:
        yield image


@pytest.fixture(params=["memory", "local", "docker"])
async def kit(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RuntimeKit]:
    match request.param:
        case "memory":
            opened = memory_kit()
        case "local":
            opened = local_kit()
        case _:
            opened = docker_kit(request.getfixturevalue("docker_image"), tmp_path)
    async with opened as kit:
        yield kit


@pytest.fixture
async def runtime(kit: RuntimeKit) -> Runtime:
    return kit.open(kit.installation)


# Homes.


async def test_a_home_is_made_once_and_listed_with_its_workspace(kit: RuntimeKit, runtime: Runtime) -> None:
    home = kit.home()
    await runtime.volumes.create(home)
    await runtime.volumes.create(home)
    assert await runtime.volumes.list() == (Volume(home.name, home.workspace_id),)


async def test_homes_can_be_listed_by_workspace(kit: RuntimeKit, runtime: Runtime) -> None:
    one, other = kit.home(), kit.home()
    await runtime.volumes.create(one)
    await runtime.volumes.create(other)
    assert await runtime.volumes.list(one.workspace_id) == (Volume(one.name, one.workspace_id),)
    assert len(await runtime.volumes.list()) == 2


async def test_a_home_is_deleted_once_and_a_missing_one_is_fine(kit: RuntimeKit, runtime: Runtime) -> None:
    home = kit.home()
    await runtime.volumes.create(home)
    await runtime.volumes.delete(home.name)
    await runtime.volumes.delete(home.name)
    assert await runtime.volumes.list() == ()


async def test_a_home_in_use_is_not_deleted(kit: RuntimeKit, runtime: Runtime) -> None:
    instance = await kit.running(runtime)
    with pytest.raises(InUse):
        await runtime.volumes.delete(instance.volume)
    await runtime.instances.stop(instance.id, 1)
    await runtime.volumes.delete(instance.volume)
    assert await runtime.volumes.list() == ()


async def test_a_home_is_held_by_an_instance_that_has_ended(kit: RuntimeKit, runtime: Runtime) -> None:
    instance = await kit.running(runtime)
    await kit.kill(instance)
    await kit.ended(runtime, instance.id)
    with pytest.raises(InUse):
        await runtime.volumes.delete(instance.volume)


async def test_what_a_home_holds_is_counted(kit: RuntimeKit, runtime: Runtime) -> None:
    instance = await kit.running(runtime)
    used = await runtime.volumes.usage(instance.volume)
    assert used > 0 if kit.fetch else used == 0
    with pytest.raises(NotFound):
        await runtime.volumes.usage("nothing-of-this-name")


async def test_files_survive_a_stop(kit: RuntimeKit, runtime: Runtime) -> None:
    if kit.fetch is None:
        pytest.skip("nothing is real here")
    home = kit.home()
    first = await kit.running(runtime, home)
    assert await kit.fetch(first, "/starts") == b"started\n"
    await runtime.instances.stop(first.id, 1)
    second = await kit.running(runtime, home)
    assert await kit.fetch(second, "/starts") == b"started\nstarted\n"


# Instances.


async def test_a_started_instance_is_listed_with_all_that_is_known_of_it(kit: RuntimeKit, runtime: Runtime) -> None:
    home = kit.home()
    await runtime.volumes.create(home)
    spec = kit.instance(home)
    instance_id = await runtime.instances.start(spec)
    (instance,) = await runtime.instances.list(home.workspace_id)
    assert instance.id == instance_id
    assert instance.state is InstanceState.RUNNING
    assert (instance.name, instance.workspace_id, instance.op_id, instance.epoch, instance.volume) == (
        spec.name,
        spec.workspace_id,
        spec.op_id,
        spec.epoch,
        spec.volume,
    )
    assert instance.endpoint is not None
    assert instance.endpoint.container_id == instance_id
    assert await runtime.instances.list(uuid.uuid4()) == ()


async def test_starting_twice_goes_on_with_the_first(kit: RuntimeKit, runtime: Runtime) -> None:
    home = kit.home()
    await runtime.volumes.create(home)
    spec = kit.instance(home)
    ids = {await runtime.instances.start(spec), await runtime.instances.start(spec)}
    assert {each.id for each in await runtime.instances.list()} == ids
    assert len(ids) == 1


async def test_two_leaders_that_start_the_same_end_up_with_one(kit: RuntimeKit, runtime: Runtime) -> None:
    home = kit.home()
    await runtime.volumes.create(home)
    spec = kit.instance(home)
    other = kit.open(kit.installation)
    ids = await asyncio.gather(runtime.instances.start(spec), other.instances.start(spec))
    assert [each.id for each in await runtime.instances.list()] == [ids[0]]
    assert ids[0] == ids[1]


async def test_a_name_of_another_incarnation_is_refused(kit: RuntimeKit, runtime: Runtime) -> None:
    home = kit.home()
    await runtime.volumes.create(home)
    spec = kit.instance(home)
    first = await runtime.instances.start(spec)
    with pytest.raises(RuntimeFault, match="another incarnation"):
        await runtime.instances.start(another(spec))
    assert [each.id for each in await runtime.instances.list()] == [first]


async def test_without_its_home_nothing_is_started_and_no_home_is_made(kit: RuntimeKit, runtime: Runtime) -> None:
    with pytest.raises(NotFound):
        await runtime.instances.start(kit.instance(kit.home()))
    assert await runtime.instances.list() == ()
    assert await runtime.volumes.list() == ()


async def test_an_instance_answers_only_where_its_tool_does(kit: RuntimeKit, runtime: Runtime) -> None:
    instance = await kit.running(runtime)
    await runtime.instances.stop(instance.id, 1)
    assert not await runtime.instances.probe(instance)
    if kit.fetch:
        elsewhere = replace(await kit.running(runtime), health_path="/not/there")
        assert not await runtime.instances.probe(elsewhere)


async def test_an_instance_that_has_ended_says_how(kit: RuntimeKit, runtime: Runtime) -> None:
    home = kit.home()
    await runtime.volumes.create(home)
    spec = replace(kit.instance(home), environment=kit.exits_with(home.workspace_id, 7))
    instance = await kit.ended(runtime, await runtime.instances.start(spec))
    assert instance.message == "exited with code 7"
    assert instance.endpoint is None
    assert not await runtime.instances.probe(instance)


async def test_stopping_removes_it_and_doing_so_again_is_fine(kit: RuntimeKit, runtime: Runtime) -> None:
    instance = await kit.running(runtime)
    await asyncio.gather(*(runtime.instances.stop(instance.id, 1) for _ in range(3)))
    await runtime.instances.stop(instance.id, 1)
    assert await runtime.instances.list() == ()
    assert [each.name for each in await runtime.volumes.list()] == [instance.volume]


async def test_whoever_stops_late_does_not_hit_the_next_one(kit: RuntimeKit, runtime: Runtime) -> None:
    home = kit.home()
    old = await kit.running(runtime, home)
    await runtime.instances.stop(old.id, 1)
    new = await kit.running(runtime, home)
    await runtime.instances.stop(old.id, 1)
    assert [(each.id, each.state) for each in await runtime.instances.list()] == [(new.id, InstanceState.RUNNING)]


async def test_no_address_is_given_again(kit: RuntimeKit, runtime: Runtime) -> None:
    home = kit.home()
    endpoints = []
    for _ in range(3):
        instance = await kit.running(runtime, home)
        endpoints.append(instance.endpoint)
        await runtime.instances.stop(instance.id, 1)
    assert len({endpoint.address for endpoint in endpoints if endpoint}) == 3


async def test_the_last_lines_that_it_printed_can_be_read(kit: RuntimeKit, runtime: Runtime) -> None:
    instance = await kit.running(runtime)
    printed = b"".join([piece async for piece in runtime.instances.logs(instance.id, 10)])
    assert printed.startswith(b"listening\n")  # a tool may also tell of the probes
    with pytest.raises(NotFound):
        _ = [piece async for piece in runtime.instances.logs("0" * 64, 10)]


async def test_what_it_prints_can_be_followed_until_it_ends(kit: RuntimeKit, runtime: Runtime) -> None:
    instance = await kit.running(runtime)
    printed = b""

    async def follow() -> None:
        nonlocal printed
        async for piece in runtime.instances.logs(instance.id, 10, follow=True):
            printed += piece

    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        following = tasks.create_task(follow())
        while b"listening" not in printed:
            await asyncio.sleep(0.02)
        assert not following.done()
        await kit.kill(instance)


async def test_what_it_uses_can_be_read(kit: RuntimeKit, runtime: Runtime) -> None:
    instance = await kit.running(runtime)
    stats = await runtime.instances.stats(instance.id)
    assert stats.cpu_seconds > 0
    assert 0 < stats.memory_bytes <= (stats.memory_limit_bytes or stats.memory_bytes)
    assert stats.pids >= 1
    assert stats.cpus_limit is None or stats.cpus_limit > 0
    with pytest.raises(NotFound):
        await runtime.instances.stats("0" * 64)


async def test_what_happens_is_announced(kit: RuntimeKit, runtime: Runtime) -> None:
    stranger = kit.open(f"{kit.installation}-other")
    async with aclosing(runtime.instances.watch()) as events:
        next_event = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0)  # its first step: from here on nothing is missed
        await kit.running(stranger)
        instance = await kit.running(runtime)
        async with asyncio.timeout(60):
            assert await next_event == instance.workspace_id
            await kit.kill(instance)
            assert await anext(events) == instance.workspace_id


async def test_the_removal_of_a_home_is_announced(kit: RuntimeKit, runtime: Runtime) -> None:
    home = kit.home()
    await runtime.volumes.create(home)
    async with aclosing(runtime.instances.watch()) as events:
        next_event = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0)
        await runtime.volumes.delete(home.name)
        async with asyncio.timeout(60):
            assert await next_event == home.workspace_id


# Images.


async def test_an_image_at_hand_is_not_pulled(kit: RuntimeKit, runtime: Runtime) -> None:
    progress: list[PullProgress] = []
    await runtime.instances.pull(kit.image, progress.append)
    assert progress == []


async def test_a_pull_tells_how_far_it_is(kit: RuntimeKit, runtime: Runtime) -> None:
    if kit.present_image is None:
        pytest.skip("nothing is ever pulled here")
    progress: list[PullProgress] = []
    await runtime.instances.pull(kit.present_image, progress.append)
    done = [each.done_bytes for each in progress]
    assert done == sorted(done)
    assert progress[-1].done_bytes == progress[-1].total_bytes
    progress.clear()
    await runtime.instances.pull(kit.present_image, progress.append)
    assert progress == []


async def test_a_missing_image_is_told_from_a_registry_that_is_away(kit: RuntimeKit, runtime: Runtime) -> None:
    if kit.present_image is None:
        pytest.skip("nothing is ever pulled here")
    with pytest.raises(ImageUnavailable):
        await runtime.instances.pull(kit.missing_image, lambda _: None)
    with pytest.raises(RegistryAway):
        await runtime.instances.pull(kit.unreachable_image, lambda _: None)


async def test_a_start_needs_its_image_and_leaves_nothing_behind_without_it(kit: RuntimeKit, runtime: Runtime) -> None:
    if kit.present_image is None:
        pytest.skip("nothing is ever pulled here")
    home = kit.home()
    await runtime.volumes.create(home)
    with pytest.raises(ImageUnavailable):
        await runtime.instances.start(replace(kit.instance(home), image=kit.missing_image))
    assert await runtime.instances.list() == ()


# The engine.


async def test_the_engine_has_an_identity_that_lasts(kit: RuntimeKit, runtime: Runtime) -> None:
    assert await runtime.engine() == await kit.open(kit.installation).engine()
    assert await runtime.volumes.list() == ()


async def test_an_engine_that_is_away_is_told_from_one_that_refuses(kit: RuntimeKit) -> None:
    away = kit.open_away()
    home = kit.home()
    for call in (
        away.engine(),
        away.instances.list(),
        away.volumes.list(),
        away.volumes.create(home),
        away.volumes.delete(home.name),
        away.volumes.usage(home.name),
        away.instances.pull(kit.image, lambda _: None),
        away.instances.start(kit.instance(home)),
        away.instances.stop("0" * 64, 1),
        away.instances.stats("0" * 64),
    ):
        with pytest.raises(RuntimeAway):
            await call
    with pytest.raises(RuntimeAway):
        await anext(away.instances.watch())
    with pytest.raises(RuntimeAway):
        await anext(away.instances.logs("0" * 64, 1))
