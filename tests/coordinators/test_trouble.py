"""What goes wrong with one workspace, and how each ends: running again, or in ERROR with a reason and an exit."""

import asyncio
import math
from uuid import UUID

from codehub.model.conditions import Status
from codehub.model.states import Desired, ErrorReason, Operation, Phase
from codehub.model.workspace import RequestKind, Workspace
from codehub.runtimes.errors import RuntimeFault
from codehub.runtimes.memory_engine import Behaviour, Call, Fault
from tests.coordinators.house import IMAGE, INSTALLATION, House, Replica, until


async def test_a_killed_container_is_started_again(house: House) -> None:
    house.replica()
    workspace_id = await house.create()
    await house.until_phase(workspace_id, Phase.RUNNING)
    (before,) = house.engine.containers
    house.engine.kill(workspace_id)

    async def another() -> Workspace | None:
        row = await house.row(workspace_id)
        alive = [each for each in house.engine.containers if each != before]
        return row if row.phase is Phase.RUNNING and alive else None

    row = await until(another, 60)
    assert len(house.engine.containers) == 1
    assert len(row.recent_deaths) == 1


async def test_a_removed_container_is_started_again(house: House) -> None:
    house.replica()
    workspace_id = await house.create()
    await house.until_phase(workspace_id, Phase.RUNNING)
    (before,) = house.engine.containers
    house.engine.lose_instances(workspace_id)
    await until(lambda: _some(set(house.engine.containers) - {before}), 60)
    await house.until_phase(workspace_id, Phase.RUNNING)


async def test_a_removed_home_is_data_lost_and_never_an_empty_home(house: House) -> None:
    house.replica()
    workspace_id = await house.create(Desired.STANDBY)
    row = await house.until_phase(workspace_id, Phase.STANDBY)
    assert row.home_volume is not None
    house.engine.lose_volume(row.home_volume)
    lost = await house.until_phase(workspace_id, Phase.ERROR)
    assert lost.error_reason is ErrorReason.DATA_LOST
    assert not house.engine.homes
    await house.request(workspace_id, RequestKind.START_EMPTY)
    again = await house.until_phase(workspace_id, Phase.STANDBY)
    assert again.home_volume != row.home_volume


async def test_a_container_without_its_home_is_taken_away_by_recover(house: House) -> None:
    house.replica()
    workspace_id = await house.create()
    row = await house.until_phase(workspace_id, Phase.RUNNING)
    assert row.home_volume is not None
    house.engine.lose_volume(row.home_volume)
    broken = await house.until_phase(workspace_id, Phase.ERROR)
    assert broken.error_reason is ErrorReason.CONTAINER_WITHOUT_VOLUME
    await house.request(workspace_id, RequestKind.RECOVER)

    async def judged_again() -> Workspace | None:
        row = await house.row(workspace_id)
        return row if row.error_reason is ErrorReason.DATA_LOST else None

    await until(judged_again, 60)
    assert not house.engine.containers


async def test_an_image_that_is_nowhere_is_an_error_at_once(house: House) -> None:
    house.engine.images.clear()
    house.replica()
    row = await house.until_phase(await house.create(), Phase.ERROR)
    assert row.error_reason is ErrorReason.IMAGE_PULL_FAILED


async def test_an_ide_that_never_answers_is_a_timeout(house: House) -> None:
    house.engine.behaviours[IMAGE] = Behaviour(answers=False)
    house.replica(starting_timeout=1)
    row = await house.until_phase(await house.create(), Phase.ERROR)
    assert row.error_reason is ErrorReason.TIMEOUT


async def test_an_ide_that_dies_again_and_again_is_given_up(house: House) -> None:
    house.replica()
    workspace_id = await house.create()
    for _ in range(5):
        await house.until_phase(workspace_id, Phase.RUNNING)
        house.engine.kill(workspace_id)
        await until(lambda: _has_left(house, workspace_id, Phase.RUNNING), 30)
    row = await house.until_phase(workspace_id, Phase.ERROR)
    assert row.error_reason is ErrorReason.ACTION_FAILED
    await house.request(workspace_id, RequestKind.RECOVER)
    await house.until_phase(workspace_id, Phase.RUNNING)


async def test_a_start_that_fails_twice_succeeds_at_the_third_try(house: House) -> None:
    house.engine.lay(Call.START, Fault(RuntimeFault("no room"), times=2))
    house.replica()
    workspace_id = await house.create()
    await house.until_phase(workspace_id, Phase.RUNNING)
    failures = [event for event in await house.events(workspace_id) if event[0] == "failure"]
    assert len(failures) == 2


async def test_a_start_that_always_fails_uses_up_its_retries(house: House) -> None:
    house.engine.lay(Call.START, Fault(RuntimeFault("no room")))
    house.replica()
    row = await house.until_phase(await house.create(), Phase.ERROR)
    assert (row.error_reason, row.error_count) == (ErrorReason.RETRY_EXCEEDED, 3)


async def test_an_error_after_the_effect_does_not_double_anything(house: House) -> None:
    for call in (Call.CREATE_VOLUME, Call.START, Call.STOP):
        house.engine.lay(call, Fault(RuntimeFault("answer lost"), after_effect=True, times=1))
    house.replica()
    workspace_id = await house.create()
    await house.until_phase(workspace_id, Phase.RUNNING)
    assert len(house.engine.containers) == 1
    await house.wish(workspace_id, Desired.STANDBY)
    await house.until_phase(workspace_id, Phase.STANDBY)
    assert not house.engine.containers


async def test_deleting_never_ends_in_error(house: House) -> None:
    house.engine.lay(Call.DELETE_VOLUME, Fault(RuntimeFault("busy"), times=5))
    house.replica()
    workspace_id = await house.create(Desired.STANDBY)
    await house.until_phase(workspace_id, Phase.STANDBY)
    await house.wish(workspace_id, Desired.DELETED)
    await house.until_phase(workspace_id, Phase.DELETED, seconds=30)
    assert not house.engine.homes


async def test_an_act_that_never_returns_delays_nobody_else(house: House) -> None:
    house.replica(starting_timeout=10)
    stuck = await house.create(Desired.STANDBY)
    await house.until_phase(stuck, Phase.STANDBY)
    house.engine.lay(Call.START, Fault(wait_seconds=math.inf, times=1))
    await house.wish(stuck, Desired.RUNNING)
    await house.until_met(Call.START)
    await house.until_phase(await house.create(), Phase.RUNNING)
    assert (await house.row(stuck)).operation is Operation.STARTING
    assert (await house.until_phase(stuck, Phase.ERROR)).error_reason is ErrorReason.TIMEOUT


async def test_an_engine_that_is_away_is_one_fault_and_burns_nobodys_retries(house: House) -> None:
    house.replica()
    workspaces = [await house.create(Desired.STANDBY) for _ in range(5)]
    for workspace_id in workspaces:
        await house.until_phase(workspace_id, Phase.STANDBY)
    house.engine.go_away()
    for workspace_id in workspaces:
        await house.wish(workspace_id, Desired.RUNNING)
    await asyncio.sleep(2)  # long enough for every retry of a workspace's own
    rows = [await house.row(workspace_id) for workspace_id in workspaces]
    assert {row.error_count for row in rows} == {0}
    assert {row.phase for row in rows} == {Phase.STANDBY}
    house.engine.come_back()
    for workspace_id in workspaces:
        await house.until_phase(workspace_id, Phase.RUNNING)


async def test_an_engine_that_was_replaced_by_an_empty_one_is_an_alarm_and_loses_no_home(house: House) -> None:
    replica = house.replica()
    workspaces = [await house.create(Desired.STANDBY) for _ in range(3)]
    for workspace_id in workspaces:
        await house.until_phase(workspace_id, Phase.STANDBY)
    house.engine.replace_engine()
    await until(lambda: _doubt(replica), 60)
    await house.wish(workspaces[0], Desired.RUNNING)  # which waits: it is no fault of the workspace's
    for _ in range(15):  # beyond the two observations that would confirm a loss, single looks among them
        for workspace_id in workspaces:
            house.engine.announce(INSTALLATION, workspace_id)
        await asyncio.sleep(0.2)
    rows = [await house.row(workspace_id) for workspace_id in workspaces]
    assert {(row.phase, row.error_count) for row in rows} == {(Phase.STANDBY, 0)}
    assert all(row.conditions.volume and row.conditions.volume.status is Status.TRUE for row in rows)


async def test_a_leader_that_comes_later_knows_which_engine_has_the_homes(house: House) -> None:
    before = house.replica()
    workspace_id = await house.create(Desired.STANDBY)
    await house.until_phase(workspace_id, Phase.STANDBY)
    await before.stop()
    house.engine.replace_engine()
    await house.wish(workspace_id, Desired.RUNNING)
    replica = house.replica()
    await until(lambda: _doubt(replica), 60)
    await asyncio.sleep(2)  # long enough for every retry of a workspace's own
    row = await house.row(workspace_id)
    assert (row.phase, row.error_count) == (Phase.STANDBY, 0)


async def _doubt(replica: Replica) -> str | None:
    report = replica.supervisor.reports.get("observer")
    return report.last_error if report is not None else None


async def _has_left(house: House, workspace_id: UUID, phase: Phase) -> Workspace | None:
    row = await house.row(workspace_id)
    return row if row.phase is not phase else None


async def _some(found: object) -> object | None:
    return found or None


async def test_many_homes_that_are_deleted_at_once_are_no_alarm(house: House) -> None:
    replica = house.replica()
    workspaces = [await house.create(Desired.STANDBY) for _ in range(6)]
    for workspace_id in workspaces:
        await house.until_phase(workspace_id, Phase.STANDBY)
    for workspace_id in workspaces[:5]:
        await house.wish(workspace_id, Desired.DELETED)
    for workspace_id in workspaces[:5]:
        await house.until_phase(workspace_id, Phase.DELETED)
    assert replica.supervisor.reports["observer"].last_error is None
    assert len(house.engine.homes) == 1
