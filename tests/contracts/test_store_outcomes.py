"""How an operation or a request ends: every outcome is one transition that leaves its story in the history."""

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from codehub import clock
from codehub.model.plans import Answer, Died, Dismiss, Finish, GiveUp, Retry, Withdraw, Withdrawal
from codehub.model.states import Desired, ErrorReason, Operation, Phase, Step
from codehub.model.workspace import RequestKind, incarnation_name
from codehub.store.history import Event, EventKind
from codehub.store.protocols import ControllerStore, Judged
from tests.contracts.store_backends import AHEAD, Backend
from tests.contracts.store_lives import (
    BROKEN,
    START,
    archiving,
    done,
    in_error,
    provisioning,
    request,
    standby,
)

LATER = clock.now() + AHEAD + timedelta(minutes=1)


async def test_finishing_leaves_no_trace_of_the_operation(backend: Backend, controller: ControllerStore) -> None:
    row = await provisioning(backend, controller)
    row = done(await controller.retry(row, Retry(LATER, Step.CREATE, BROKEN)))
    finished = done(await controller.finish(row, Finish(Phase.STANDBY, row.op_volume, None, "key")))
    assert (finished.operation, finished.op_step, finished.op_attempt, finished.op_clock_at) == (
        Operation.NONE,
        None,
        0,
        None,
    )
    assert (finished.error_reason, finished.error_count, finished.next_attempt_at) == (None, 0, None)
    assert (finished.home_volume, finished.op_volume, finished.restore_marker) == (row.op_volume, None, "key")
    assert (await backend.events(row.id))[-2:] == [
        Event(EventKind.OPERATION, "PROVISIONING", "NONE", "done"),
        Event(EventKind.PHASE, "PENDING", "STANDBY"),
    ]


async def test_a_phase_that_stays_keeps_its_time_and_tells_nothing(
    backend: Backend, controller: ControllerStore
) -> None:
    row = await archiving(backend, controller)
    before = await backend.events(row.id)
    row = done(await controller.withdraw(row, Withdraw(Withdrawal.WISH_CHANGED), Phase.STANDBY))
    assert row.phase_changed_at == (await backend.row(row.id)).phase_changed_at
    assert (await backend.events(row.id))[len(before) :] == [
        Event(EventKind.OPERATION, "ARCHIVING", "NONE", "wish_changed")
    ]


async def test_what_a_withdrawn_operation_made_stays_known(backend: Backend, controller: ControllerStore) -> None:
    row = await provisioning(backend, controller)
    withdrawn = done(await controller.withdraw(row, Withdraw(Withdrawal.WISH_CHANGED), Phase.PENDING))
    assert (withdrawn.operation, withdrawn.op_volume) == (Operation.NONE, row.op_volume)


async def test_a_retry_makes_another_incarnation_and_keeps_the_operation(
    backend: Backend, controller: ControllerStore
) -> None:
    row = await provisioning(backend, controller)
    retried = done(await controller.retry(row, Retry(LATER, Step.CREATE, BROKEN)))
    assert row.op_id is not None
    assert retried.op_volume == incarnation_name(row.id, row.op_id, 2)
    assert (retried.operation, retried.op_attempt, retried.error_count) == (Operation.PROVISIONING, 2, 1)
    assert (retried.next_attempt_at, retried.op_clock_at) == (LATER, LATER)
    assert (await backend.events(row.id))[-1] == Event(
        EventKind.FAILURE, "PROVISIONING", reason="ActionFailed", detail="it fell over"
    )


async def test_giving_up_is_error_without_an_operation(backend: Backend, controller: ControllerStore) -> None:
    row = await in_error(backend, controller)
    assert (row.phase, row.operation, row.op_step) == (Phase.ERROR, Operation.NONE, None)
    assert (row.error_reason, row.error_count) == (ErrorReason.ACTION_FAILED, 3)
    assert (await backend.events(row.id))[-3:] == [
        Event(EventKind.FAILURE, "PROVISIONING", reason="ActionFailed", detail="it fell over"),
        Event(EventKind.OPERATION, "PROVISIONING", "NONE", "ActionFailed"),
        Event(EventKind.PHASE, "PENDING", "ERROR"),
    ]


async def test_a_deleted_workspace_is_never_given_up(backend: Backend, controller: ControllerStore) -> None:
    row = await provisioning(backend, controller)
    row = done(await backend.wish(row, Desired.DELETED))
    assert await controller.give_up(row, GiveUp(BROKEN, 3)) is None
    assert await backend.row(row.id) == row


async def test_giving_up_drops_the_request_that_led_there_and_says_so(
    backend: Backend, controller: ControllerStore
) -> None:
    row = done(await backend.place_request(await archiving(backend, controller), request(RequestKind.RESTORE, "older")))
    given_up = done(await controller.give_up(row, GiveUp(BROKEN, 3)))
    assert given_up.request is None
    dismissed = Event(EventKind.REQUEST, after="restore", actor="owner", reason="dismissed", detail="ActionFailed")
    assert dismissed in await backend.events(row.id)


async def test_giving_up_leaves_a_request_that_came_meanwhile(backend: Backend, controller: ControllerStore) -> None:
    row, asked = await archiving(backend, controller), request(RequestKind.RESTORE, "older")
    await backend.place_request(row, asked)
    assert done(await controller.give_up(row, GiveUp(BROKEN, 3))).request == asked


async def test_a_death_is_remembered(backend: Backend, controller: ControllerStore) -> None:
    row = await standby(backend, controller)
    died = done(await controller.died(row, Died(LATER, (LATER - timedelta(seconds=9), LATER))))
    assert (died.phase, died.next_attempt_at) == (Phase.STANDBY, LATER)
    assert died.recent_deaths == (LATER - timedelta(seconds=9), LATER)
    assert (await backend.events(row.id))[-1] == Event(EventKind.DEATH)


async def test_one_that_is_seen_to_serve_after_all_waits_for_no_start(
    backend: Backend, controller: ControllerStore
) -> None:
    died = done(await controller.died(await standby(backend, controller), Died(LATER, (LATER,))))
    assert await controller.judged([Judged(died, Phase.STANDBY)]) == 1
    assert (await backend.row(died.id)).next_attempt_at == LATER
    assert await controller.judged([Judged(died, Phase.RUNNING)]) == 1
    assert (await backend.row(died.id)).next_attempt_at is None


async def test_an_operation_keeps_its_pause_whatever_is_seen(backend: Backend, controller: ControllerStore) -> None:
    row = done(await backend.wish(await standby(backend, controller), Desired.RUNNING))
    row = done(await controller.claim(row, START, uuid4(), Phase.STANDBY))
    row = done(await controller.retry(row, Retry(LATER, Step.PULL, BROKEN)))
    assert await controller.judged([Judged(row, Phase.RUNNING)]) == 1
    assert (await backend.row(row.id)).next_attempt_at == LATER


@pytest.mark.parametrize("is_done", [True, False])
async def test_an_answer_clears_the_error_and_a_request_that_is_done(
    backend: Backend, controller: ControllerStore, *, is_done: bool
) -> None:
    asked = request(RequestKind.RESTORE, "older")
    row = done(await backend.place_request(await in_error(backend, controller), asked))
    answered = done(await controller.answer(row, Answer(asked, None, "older", done=is_done), Phase.ARCHIVED))
    assert (answered.error_reason, answered.error_count, answered.archive_key) == (None, 0, "older")
    assert answered.request == (None if is_done else asked)
    assert Event(EventKind.REQUEST, after="restore", actor="owner", reason="granted") in await backend.events(row.id)


async def test_a_dismissed_request_says_why(backend: Backend, controller: ControllerStore) -> None:
    asked = request()
    row = done(await backend.place_request(await standby(backend, controller), asked))
    assert done(await controller.dismiss(row, Dismiss(asked, "it is not in ERROR"))).request is None
    dismissed = Event(
        EventKind.REQUEST, after="recover", actor="owner", reason="dismissed", detail="it is not in ERROR"
    )
    assert (await backend.events(row.id))[-1] == dismissed


async def test_after_a_request_there_is_room_for_the_next(backend: Backend, controller: ControllerStore) -> None:
    asked, another = request(), request()
    row = done(await backend.place_request(await standby(backend, controller), asked))
    assert await backend.place_request(row, another) is None
    await controller.dismiss(row, Dismiss(asked, ""))
    assert await backend.is_settled(row.id)
    assert done(await backend.place_request(row, another)).request == another


async def test_only_the_request_that_stands_there_is_answered(backend: Backend, controller: ControllerStore) -> None:
    row = done(await backend.place_request(await in_error(backend, controller), request()))
    other = request()
    assert await controller.answer(row, Answer(other, None, None), Phase.PENDING) is None
    assert await controller.dismiss(row, Dismiss(other, "")) is None
    assert await backend.row(row.id) == row


async def test_removed_surplus_containers_are_told_and_what_was_seen_before_counts_no_more(
    backend: Backend, controller: ControllerStore
) -> None:
    row = await standby(backend, controller)
    told = done(await controller.thinned_out(row, ["one", "two"]))
    assert row.acted_at is not None
    assert told.acted_at is not None
    assert told.acted_at > row.acted_at
    assert replace(told, acted_at=row.acted_at) == row
    assert (await backend.events(row.id))[-1] == Event(EventKind.SURPLUS, detail="one two")


async def test_where_no_surplus_was_found_any_more_nothing_is_told(
    backend: Backend, controller: ControllerStore
) -> None:
    row = await standby(backend, controller)
    before = await backend.events(row.id)
    assert done(await controller.thinned_out(row, [])).acted_at != row.acted_at
    assert await backend.events(row.id) == before
