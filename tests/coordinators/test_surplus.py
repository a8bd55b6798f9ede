"""At most one container per workspace (contract 6), whatever a deposed leader does late."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from uuid import UUID, uuid4

from codehub.clock import elapsed
from codehub.coordinators.leadership import Leadership
from codehub.model.states import Desired, Phase
from codehub.runtimes.errors import RuntimeFault
from codehub.runtimes.memory import MemoryRuntime
from codehub.runtimes.memory_engine import Call, Container, Fault
from codehub.store.seat import PostgresSeat
from tests.coordinators.house import INSTALLATION, House, until


async def late_start(house: House, serving: Container, volume: str | None = None) -> str:
    """What a deposed leader's start leaves when nothing stands between it and the engine any more."""
    spec = replace(serving.spec, name=f"late-{uuid4().hex}", op_id=uuid4(), volume=volume or serving.spec.volume)
    return await MemoryRuntime(house.engine, INSTALLATION).instances.start(spec)


async def serving(house: House, workspace_id: UUID) -> Container:
    await house.until_phase(workspace_id, Phase.RUNNING)
    (container,) = house.engine.containers.values()
    return container


async def removals(house: House, workspace_id: UUID) -> list[object]:
    return [event for event in await house.events(workspace_id) if event[0] == "surplus"]


async def alone(house: House, container_id: str) -> None:
    async def is_alone() -> bool | None:
        return list(house.engine.containers) == [container_id] or None

    await until(is_alone, 60)


async def test_a_second_container_is_removed_and_the_first_serves_on(house: House) -> None:
    house.replica()
    workspace_id = await house.create()
    first = await serving(house, workspace_id)
    before = await house.row(workspace_id)
    await late_start(house, first)
    await alone(house, first.seen.id)

    async def told() -> list[object] | None:
        return await removals(house, workspace_id) or None

    assert len(await until(told, 60)) == 1
    row = await house.until_phase(workspace_id, Phase.RUNNING)
    assert row.phase_changed_at == before.phase_changed_at
    assert row.op_id == before.op_id


async def test_it_is_found_by_a_new_leader_too_and_goes_when_the_old_lease_is_over(house: House) -> None:
    first_term = house.replica(lease_seconds=2)
    workspace_id = await house.create()
    first = await serving(house, workspace_id)
    await first_term.stop()
    await late_start(house, first)
    house.replica(lease_seconds=2)
    await alone(house, first.seen.id)


async def test_a_container_on_another_volume_is_the_one_that_goes(house: House) -> None:
    house.replica()
    workspace_id = await house.create()
    first = await serving(house, workspace_id)
    home = house.engine.homes[first.spec.volume]
    older = replace(home.spec, name="an older incarnation")
    await MemoryRuntime(house.engine, INSTALLATION).volumes.create(older)
    await late_start(house, first, older.name)
    await alone(house, first.seen.id)


async def test_a_removal_that_fails_is_tried_again_and_disturbs_nothing(house: House) -> None:
    house.replica()
    workspace_id = await house.create()
    first = await serving(house, workspace_id)
    house.engine.lay(Call.STOP, Fault(RuntimeFault("busy"), times=2))
    await late_start(house, first)
    await alone(house, first.seen.id)
    row = await house.until_phase(workspace_id, Phase.RUNNING)
    assert (row.error_reason, row.error_count) == (None, 0)


async def test_a_wish_to_stop_does_not_wait_for_a_removal_that_hangs(house: House) -> None:
    house.replica()
    workspace_id = await house.create()
    first = await serving(house, workspace_id)
    house.engine.lay(Call.STOP, Fault(wait_seconds=float("inf"), times=1))
    await late_start(house, first)
    await house.until_met(Call.STOP)
    await house.wish(workspace_id, Desired.STANDBY)
    await house.until_phase(workspace_id, Phase.STANDBY)
    assert not house.engine.containers


async def test_the_last_one_alive_is_never_removed_as_surplus(house: House) -> None:
    replica = house.replica()
    workspace_id = await house.create()
    first = await serving(house, workspace_id)
    row = await house.row(workspace_id)
    await replica.stop()
    second = await late_start(house, first)
    house.engine.end(first, 1)  # after it was seen to serve, and before the act
    async with in_office(house) as leadership:
        actions = house.actions(leadership)
        assert await actions.thin_out(row, [second]) == ()
        assert set(house.engine.containers) == {first.seen.id, second}
        assert await actions.thin_out(row, [first.seen.id]) == (first.seen.id,)
    assert list(house.engine.containers) == [second]


@asynccontextmanager
async def in_office(house: House) -> AsyncIterator[Leadership]:
    seat = await PostgresSeat.take(house.database_url, "coordinator:wc", "tests", 60)
    try:
        term = await seat.campaign()
        assert term is not None
        yield Leadership(seat, term, 60, elapsed(), elapsed)
    finally:
        await seat.close()
