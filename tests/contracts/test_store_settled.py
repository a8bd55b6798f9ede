"""Which rows the controller reads: all that want a decision, those that people wait for first, each once."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from codehub import clock
from codehub.model.conditions import Condition, Conditions, Reason, Status
from codehub.model.plans import Dismiss
from codehub.model.states import Desired, ImageState, Phase
from codehub.model.templates import Template
from codehub.model.workspace import Workspace
from codehub.store.history import Event, EventKind
from codehub.store.protocols import ControllerStore, Judged, Observed, ObserverStore
from tests.contracts.store_backends import AHEAD, Backend
from tests.contracts.store_lives import archived, done, in_error, provisioning, request, standby

NOW = clock.now() + AHEAD


async def unsettled_ids(controller: ControllerStore) -> list[UUID]:
    return [row.id for row in await controller.unsettled(None, 100)]


async def expect_settled(backend: Backend, controller: ControllerStore, row: Workspace, *, settled: bool) -> None:
    assert await backend.is_settled(row.id) is settled
    assert (row.id in await unsettled_ids(controller)) is not settled


async def test_a_fulfilled_wish_settles(backend: Backend, controller: ControllerStore) -> None:
    await expect_settled(backend, controller, await standby(backend, controller), settled=True)


async def test_a_wish_not_fulfilled_unsettles(backend: Backend, controller: ControllerStore) -> None:
    row = await standby(backend, controller)
    await backend.wish(row, Desired.RUNNING)
    await expect_settled(backend, controller, row, settled=False)


async def test_an_operation_under_way_unsettles(backend: Backend, controller: ControllerStore) -> None:
    await expect_settled(backend, controller, await provisioning(backend, controller), settled=False)


async def test_a_request_unsettles(backend: Backend, controller: ControllerStore) -> None:
    row = await standby(backend, controller)
    await backend.place_request(row, request())
    await expect_settled(backend, controller, row, settled=False)


async def test_an_observation_unsettles_until_it_is_judged(
    backend: Backend, controller: ControllerStore, observer: ObserverStore
) -> None:
    row = await standby(backend, controller)
    await observer.write_conditions([Observed(row.id, Conditions(), NOW)])
    await expect_settled(backend, controller, row, settled=False)
    assert await controller.judged([Judged(await backend.row(row.id), Phase.STANDBY)]) == 1
    await expect_settled(backend, controller, row, settled=True)


async def test_a_judgement_of_an_older_observation_does_not_settle(
    backend: Backend, controller: ControllerStore, observer: ObserverStore
) -> None:
    row = await standby(backend, controller)
    await observer.write_conditions([Observed(row.id, Conditions(), NOW)])
    snapshot = await backend.row(row.id)
    await observer.write_conditions([Observed(row.id, Conditions(), NOW + timedelta(seconds=1))])
    await controller.judged([Judged(snapshot, Phase.STANDBY)])
    await expect_settled(backend, controller, row, settled=False)


@pytest.mark.parametrize("surplus", [(), ("second",)])
async def test_a_change_of_a_row_with_surplus_containers_does_not_settle_it(
    backend: Backend, controller: ControllerStore, observer: ObserverStore, surplus: tuple[str, ...]
) -> None:
    row, asked = await standby(backend, controller), request()
    seen = Condition(Status.TRUE, Reason.CONTAINER_RUNNING, "", NOW, "first", NOW, surplus=surplus)
    await observer.write_conditions([Observed(row.id, Conditions(container=seen), NOW)])
    await backend.place_request(row, asked)
    await controller.dismiss(await backend.row(row.id), Dismiss(asked, ""))
    await expect_settled(backend, controller, row, settled=not surplus)


async def test_error_rests_until_its_reason_is_cleared(backend: Backend, controller: ControllerStore) -> None:
    row = await in_error(backend, controller)
    await expect_settled(backend, controller, row, settled=True)
    await backend.clear_error(row)
    await expect_settled(backend, controller, row, settled=False)


async def test_a_deleted_workspace_is_read_until_it_is_deleted(backend: Backend, controller: ControllerStore) -> None:
    for row in (await in_error(backend, controller), await archived(backend, controller)):
        deleted = done(await backend.wish(row, Desired.DELETED))
        await expect_settled(backend, controller, row, settled=False)
        await controller.judged([Judged(deleted, Phase.DELETING)])
        await expect_settled(backend, controller, row, settled=False)
        await controller.judged([Judged(await backend.row(row.id), Phase.DELETED)])
        await expect_settled(backend, controller, row, settled=True)


async def test_pages_lose_and_repeat_nothing_and_begin_with_those_that_people_wait_for(
    backend: Backend, controller: ControllerStore
) -> None:
    wishes = [Desired.ARCHIVED, Desired.RUNNING, Desired.STANDBY] * 4
    rows = [await backend.create(desired) for desired in wishes]
    await backend.wish(rows[0], Desired.DELETED)
    found: list[Workspace] = []
    while page := await controller.unsettled(found[-1] if found else None, 5):
        found.extend(page)
    waited_for = sorted(row.id for row in rows if row.desired_state is Desired.RUNNING)
    others = sorted(row.id for row in rows if row.desired_state is not Desired.RUNNING)
    assert [row.id for row in found] == [*waited_for, *others]


async def test_judging_changes_the_phase_once_and_tells_it(backend: Backend, controller: ControllerStore) -> None:
    row = await standby(backend, controller)
    before = await backend.events(row.id)
    assert await controller.judged([Judged(row, Phase.RUNNING)]) == 1
    after = await backend.row(row.id)
    assert after.phase is Phase.RUNNING
    assert after.phase_changed_at is not None
    assert row.phase_changed_at is not None
    assert after.phase_changed_at > row.phase_changed_at
    assert await controller.judged([Judged(row, Phase.RUNNING)]) == 0
    assert [*before, Event(EventKind.PHASE, "STANDBY", "RUNNING")] == await backend.events(row.id)


async def test_a_judgement_that_changes_nothing_keeps_the_time_of_the_phase(
    backend: Backend, controller: ControllerStore
) -> None:
    row = await standby(backend, controller)
    before = await backend.events(row.id)
    assert await controller.judged([Judged(row, Phase.STANDBY)]) == 1
    assert (await backend.row(row.id)).phase_changed_at == row.phase_changed_at
    assert await backend.events(row.id) == before


async def test_rows_that_have_moved_on_are_left_alone(backend: Backend, controller: ControllerStore) -> None:
    moved, same = await provisioning(backend, controller), await provisioning(backend, controller)
    stale = [
        replace(moved, op_id=uuid4()),
        replace(moved, op_step=None),
        replace(moved, op_attempt=2),
        replace(moved, phase=Phase.STANDBY),
        replace(moved, id=uuid4()),
    ]
    for snapshot in stale:
        assert await controller.judged([Judged(snapshot, Phase.RUNNING), Judged(same, Phase.PENDING)]) == 1
    assert await backend.row(moved.id) == moved


async def test_a_thousand_judgements_are_one_batch(backend: Backend, controller: ControllerStore) -> None:
    rows = [await backend.create() for _ in range(20)]
    batch = [*rows, *(replace(rows[0], id=uuid4()) for _ in range(980))]
    assert await controller.judged([Judged(row, Phase.STANDBY) for row in batch]) == 20
    assert await controller.judged([]) == 0


async def test_templates_are_read_by_their_ids(backend: Backend, controller: ControllerStore) -> None:
    template = Template(
        uuid4(), "python", "image:1", ImageState.READY, 8080, "/healthz", {"EDITOR": "vi"}, {"memory_gb": 2}, False
    )
    await backend.create_template(template)
    assert await controller.templates() == {template.id: template}
