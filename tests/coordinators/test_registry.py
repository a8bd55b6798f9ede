"""A registry that is away is one fault for all that need it, and no fault of theirs."""

import asyncio
import math
from collections.abc import Sequence
from uuid import UUID

import pytest

from codehub.coordinators.registry import Registry
from codehub.model.states import Desired, ErrorReason, Phase, Step
from codehub.model.templates import STANDARD_REGISTRY, registry_of
from codehub.model.workspace import Workspace
from codehub.runtimes.errors import RegistryAway
from codehub.runtimes.memory import MemoryRuntime
from codehub.runtimes.memory_engine import Call, Fault, MemoryEngine
from tests.coordinators.house import IMAGE, INSTALLATION, House, until

AWAY, THERE = "away.example", "there.example"


async def waiting(house: House, workspaces: Sequence[UUID]) -> list[Workspace]:
    """All of them have a home, and none has begun to run; one of them has asked the registry in vain."""

    async def wait() -> list[Workspace] | None:
        rows = [await house.row(each) for each in workspaces]
        asked = any(row.op_step is Step.PULL for row in rows)
        return rows if asked and all(row.home_volume is not None for row in rows) else None

    return await until(wait, 60)


@pytest.fixture
async def away(house: House) -> UUID:
    """A template whose registry is away."""
    house.engine.registries_away.add(AWAY)
    house.engine.registry.add(f"{AWAY}/ide")
    return await house.template_for(f"{AWAY}/ide")


async def test_while_it_is_away_all_wait_uncounted_and_run_when_it_is_back(house: House, away: UUID) -> None:
    house.replica(image_pull_timeout=1)
    workspaces = [await house.create(template=away) for _ in range(4)]
    await waiting(house, workspaces)
    await asyncio.sleep(2)  # longer than a pull may take, and than every retry of their own
    rows = await waiting(house, workspaces)
    assert {(row.phase, row.error_reason, row.error_count) for row in rows} == {(Phase.STANDBY, None, 0)}
    house.engine.registries_away.clear()
    for workspace_id in workspaces:
        await house.until_phase(workspace_id, Phase.RUNNING)
        assert not [event for event in await house.events(workspace_id) if event[0] == "failure"]


async def test_an_image_that_is_at_hand_needs_no_registry(house: House, away: UUID) -> None:
    house.replica()
    await waiting(house, [await house.create(template=away)])
    house.engine.images.add(f"{AWAY}/other")
    await house.until_phase(await house.create(template=await house.template_for(f"{AWAY}/other")), Phase.RUNNING)


async def test_what_comes_from_another_registry_is_not_held_up(house: House, away: UUID) -> None:
    house.replica()
    await waiting(house, [await house.create(template=away)])
    house.engine.registry.add(f"{THERE}/ide")
    await house.until_phase(await house.create(template=await house.template_for(f"{THERE}/ide")), Phase.RUNNING)


@pytest.mark.parametrize("wish", [Desired.STANDBY, Desired.DELETED])
async def test_another_wish_does_not_wait_for_a_registry(house: House, away: UUID, wish: Desired) -> None:
    house.replica()
    workspace_id = await house.create(template=away)
    await waiting(house, [workspace_id])
    await house.wish(workspace_id, wish)
    await house.until_phase(workspace_id, Phase(wish.value))


async def test_an_image_that_vanished_before_the_start_is_waited_for_too(house: House) -> None:
    replica = house.replica()
    workspace_id = await house.create(Desired.STANDBY)
    await house.until_phase(workspace_id, Phase.STANDBY)
    house.engine.lay(Call.PULL, Fault(wait_seconds=0.5, after_effect=True, times=1))
    await house.wish(workspace_id, Desired.RUNNING)

    async def found() -> bool | None:
        return any(fault.times == 0 for fault in house.engine.faults[Call.PULL]) or None

    await until(found, 60)
    house.engine.images.clear()
    house.engine.registries_away.add(STANDARD_REGISTRY)

    async def is_noticed() -> bool | None:
        services = replica.supervisor.reports["wc"].services
        return services.get(f"registry {STANDARD_REGISTRY}") is False or None

    await until(is_noticed, 60)
    assert (await house.row(workspace_id)).op_step is Step.START
    house.engine.registries_away.clear()
    house.engine.registry.add(IMAGE)
    await house.until_phase(workspace_id, Phase.RUNNING)
    assert not [event for event in await house.events(workspace_id) if event[0] == "failure"]


async def test_a_registry_without_the_image_is_an_error_at_once(house: House) -> None:
    house.replica()
    template = await house.template_for(f"{THERE}/nothing")
    row = await house.until_phase(await house.create(template=template), Phase.ERROR)
    assert row.error_reason is ErrorReason.IMAGE_PULL_FAILED


class TestAsking:
    async def test_the_first_sign_of_an_image_is_an_answer(self) -> None:
        engine = MemoryEngine(registry={IMAGE})
        engine.lay(Call.PULL, Fault(wait_seconds=math.inf, after_effect=True))
        await asyncio.wait_for(asking(engine, IMAGE).answers(), 5)

    async def test_that_there_is_no_such_image_is_an_answer(self) -> None:
        await asking(MemoryEngine(), IMAGE).answers()

    async def test_silence_is_none_and_the_next_image_is_asked_for(self) -> None:
        engine = MemoryEngine(registries_away={STANDARD_REGISTRY}, images={"at-hand"})
        registry = asking(engine, IMAGE, "at-hand")
        with pytest.raises(RegistryAway):
            await registry.answers()
        assert list(registry.wanted) == ["at-hand", IMAGE]
        await registry.answers()
        assert not registry.wanted


def asking(engine: MemoryEngine, *images: str) -> Registry:
    return Registry(MemoryRuntime(engine, INSTALLATION).instances, dict.fromkeys(images))


@pytest.mark.parametrize(
    ("image", "host"),
    [
        ("ide", STANDARD_REGISTRY),
        ("someone/ide:1", STANDARD_REGISTRY),
        ("localhost/ide", "localhost"),
        ("localhost", STANDARD_REGISTRY),
        ("registry.example/ide", "registry.example"),
        ("registry:5000/some/ide@sha256:0", "registry:5000"),
    ],
)
def test_the_host_of_an_image_is_the_one_that_engines_take(image: str, host: str) -> None:
    assert registry_of(image) == host
