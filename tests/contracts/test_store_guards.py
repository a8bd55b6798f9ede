"""Compare and set: only the row that was decided on is changed, and one that the schema refuses is not."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from codehub import clock
from codehub.model.plans import Answer, Died, Dismiss, Finish, GiveUp, Retry, Withdraw, Withdrawal
from codehub.model.states import Desired, Operation, Phase, Step
from codehub.model.workspace import Workspace
from codehub.store.history import EventKind
from codehub.store.protocols import ControllerStore
from tests.contracts.store_backends import AHEAD, Backend
from tests.contracts.store_lives import (
    ARCHIVE,
    BROKEN,
    PROVISION,
    done,
    provisioning,
    request,
    standby,
)

LATER = clock.now() + AHEAD + timedelta(minutes=1)


async def test_times_are_the_databases_own(backend: Backend, controller: ControllerStore) -> None:
    client = clock.now()
    row = done(await controller.claim(await backend.create(), PROVISION, uuid4(), Phase.PENDING))
    row = done(await controller.acted(row, Step.CREATE))
    row = done(await controller.finish(row, Finish(Phase.STANDBY, row.op_volume, None, None)))
    for moment in (row.op_started_at, row.acted_at, row.phase_changed_at):
        assert moment is not None
        assert timedelta() <= moment - client - AHEAD < timedelta(minutes=1)


async def test_of_two_claims_at_once_one_wins(backend: Backend) -> None:
    row = await backend.create()
    stores = [backend.controller(await backend.take("controller", f"holder {n}")) for n in range(2)]
    claims = await asyncio.gather(*(store.claim(row, PROVISION, uuid4(), Phase.PENDING) for store in stores))
    winners = [claim for claim in claims if claim is not None]
    assert winners == [await backend.row(row.id)]
    assert [event.kind for event in await backend.events(row.id)] == [EventKind.CREATED, EventKind.OPERATION]


async def test_a_workspace_that_does_not_exist_is_none(controller: ControllerStore) -> None:
    assert await controller.workspace(uuid4()) is None


async def test_a_row_against_the_constraints_is_refused_and_the_seat_goes_on(
    backend: Backend, controller: ControllerStore
) -> None:
    row = await standby(backend, controller)
    with pytest.raises(backend.refused):
        await controller.claim(row, PROVISION, uuid4(), Phase.STANDBY)
    assert await backend.row(row.id) == row
    assert await controller.workspace(row.id) == row


MOVED_ON = {
    "another operation": {"operation": Operation.RESTORING},
    "another life": {"op_id": uuid4()},
    "another step": {"op_step": Step.CREATED},
    "another attempt": {"op_attempt": 2},
    "another phase": {"phase": Phase.STANDBY},
}


@pytest.mark.parametrize("moved_on", MOVED_ON.values(), ids=MOVED_ON.keys())
async def test_nothing_happens_on_a_row_that_has_moved_on(
    backend: Backend, controller: ControllerStore, moved_on: dict[str, object]
) -> None:
    row = done(await backend.place_request(await provisioning(backend, controller), asked := request()))
    snapshot: Workspace = replace(row, **moved_on)  # type: ignore[arg-type]
    before = await backend.events(row.id)
    for outcome in (
        await controller.claim(snapshot, ARCHIVE, uuid4(), Phase.PENDING),
        await controller.enter(snapshot, Step.CREATED),
        await controller.acted(snapshot, Step.CREATE),
        await controller.finish(snapshot, Finish(Phase.STANDBY, row.op_volume, None, None)),
        await controller.withdraw(snapshot, Withdraw(Withdrawal.WISH_CHANGED), Phase.PENDING),
        await controller.retry(snapshot, Retry(LATER, Step.CREATE, BROKEN)),
        await controller.give_up(snapshot, GiveUp(BROKEN, 3)),
        await controller.died(snapshot, Died(LATER, ())),
        await controller.answer(snapshot, Answer(asked, None, None), Phase.PENDING),
        await controller.dismiss(snapshot, Dismiss(asked, "")),
    ):
        assert outcome is None
    assert await backend.row(row.id) == row
    assert await backend.events(row.id) == before


async def test_a_wish_for_what_is_wanted_already_writes_nothing(backend: Backend) -> None:
    row = await backend.create(Desired.STANDBY)
    history = await backend.events(row.id)
    assert await backend.wish(row, Desired.STANDBY) == row
    assert await backend.row(row.id) == row
    assert await backend.events(row.id) == history
    deleted = done(await backend.wish(row, Desired.DELETED))
    assert await backend.wish(deleted, Desired.DELETED) is None
