"""From the claim through the steps: each is recorded before it is done, and the home is let go of last (contract 8)."""

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from codehub import clock
from codehub.model.plans import Begin, Retry, Withdraw, Withdrawal
from codehub.model.states import Desired, Operation, Phase, Step
from codehub.model.workspace import RequestKind, incarnation_name
from codehub.store.history import Event, EventKind
from codehub.store.protocols import ControllerStore
from tests.contracts.store_backends import AHEAD, Backend, KnownArchive
from tests.contracts.store_lives import (
    ARCHIVE,
    BROKEN,
    PROVISION,
    START,
    archive_verified,
    archived,
    archiving,
    done,
    in_error,
    made,
    provisioning,
    request,
    standby,
)

LATER = clock.now() + AHEAD + timedelta(minutes=1)


async def test_a_claim_names_the_volume_before_it_is_made(backend: Backend, controller: ControllerStore) -> None:
    row, op_id = await backend.create(), uuid4()
    claimed = done(await controller.claim(row, PROVISION, op_id, Phase.PENDING))
    assert claimed.op_volume == incarnation_name(row.id, op_id, 1)
    assert (claimed.operation, claimed.op_id, claimed.op_step, claimed.op_attempt) == (
        Operation.PROVISIONING,
        op_id,
        Step.CREATE,
        1,
    )
    assert claimed == await backend.row(row.id) == await controller.workspace(row.id)
    assert await backend.events(row.id) == [
        Event(EventKind.CREATED, after="RUNNING", reason="owner", actor="owner"),
        Event(EventKind.OPERATION, "NONE", "PROVISIONING"),
    ]


async def test_a_claim_of_an_archive_names_the_archive(backend: Backend, controller: ControllerStore) -> None:
    row = await archiving(backend, controller)
    assert row.archive_op_id == row.op_id
    assert (row.home_volume is not None, row.op_volume) == (True, None)


async def test_a_changed_wish_bars_a_claim(backend: Backend, controller: ControllerStore) -> None:
    row = await backend.create(Desired.RUNNING)
    await backend.wish(row, Desired.ARCHIVED)
    assert await controller.claim(row, PROVISION, uuid4(), Phase.PENDING) is None
    assert (await backend.row(row.id)).operation is Operation.NONE


async def test_a_claim_that_answers_a_request_takes_it_away_with_the_error(
    backend: Backend, controller: ControllerStore
) -> None:
    asked = request()
    row = done(await backend.place_request(await in_error(backend, controller), asked))
    stop = Begin(Operation.STOPPING, Step.STOP, consumes=asked)
    claimed = done(await controller.claim(row, stop, uuid4(), Phase.STANDBY))
    assert (claimed.request, claimed.error_reason, claimed.error_count) == (None, None, 0)
    assert Event(EventKind.REQUEST, after="recover", actor="owner", reason="granted") in await backend.events(row.id)


async def test_a_claim_for_another_request_changes_nothing(backend: Backend, controller: ControllerStore) -> None:
    row = done(await backend.place_request(await in_error(backend, controller), request()))
    stop = Begin(Operation.STOPPING, Step.STOP, consumes=request())
    assert await controller.claim(row, stop, uuid4(), Phase.STANDBY) is None
    assert await backend.row(row.id) == row


async def test_an_act_is_recorded_at_its_own_step_only(backend: Backend, controller: ControllerStore) -> None:
    row = await archiving(backend, controller)
    assert await controller.acted(row, Step.VERIFY, made(row)) is None
    assert await backend.archives(row.id) == []
    assert done(await controller.acted(row, Step.ARCHIVE)).op_step is Step.VERIFY


async def test_acts_of_many_are_recorded_at_once_each_as_if_alone(
    backend: Backend, controller: ControllerStore
) -> None:
    starting = done(await backend.wish(await standby(backend, controller), Desired.RUNNING))
    pulling = done(await controller.claim(starting, START, uuid4(), Phase.STANDBY))
    creating, gone_on = await provisioning(backend, controller), await provisioning(backend, controller)
    ahead = done(await controller.acted(gone_on, Step.CREATE))
    assert await controller.all_acted([pulling, creating, gone_on]) == 2
    pulled, created = await backend.row(pulling.id), await backend.row(creating.id)
    assert (pulled.op_step, pulled.acted_at) == (Step.START, starting.acted_at)
    assert pulled.op_clock_at is not None
    assert pulled.op_clock_at > starting.created_at
    assert (created.op_step, created.op_clock_at) == (Step.CREATED, creating.op_clock_at)
    assert created.acted_at is not None
    assert await backend.row(gone_on.id) == ahead


async def test_the_end_of_a_pull_starts_the_clock_anew(backend: Backend, controller: ControllerStore) -> None:
    row = done(await backend.wish(await standby(backend, controller), Desired.RUNNING))
    claimed = done(await controller.claim(row, START, uuid4(), Phase.STANDBY))
    pulled = done(await controller.acted(claimed, Step.PULL))
    assert claimed.op_clock_at is not None
    assert pulled.op_clock_at is not None
    assert (pulled.op_step, pulled.acted_at) == (Step.START, row.acted_at)
    assert pulled.op_clock_at > claimed.op_clock_at


async def test_an_archive_is_recorded_with_its_key(backend: Backend, controller: ControllerStore) -> None:
    row = await archive_verified(backend, controller)
    key = made(row).key
    assert (row.op_step, row.archive_key) == (Step.VERIFIED, key)
    assert await backend.archives(row.id) == [KnownArchive(1, key, 7, "sha256:0", row.op_id)]


async def test_an_archive_made_again_under_its_key_is_described_anew(
    backend: Backend, controller: ControllerStore
) -> None:
    row = await archive_verified(backend, controller)
    row = done(await controller.retry(row, Retry(LATER, Step.VERIFY, BROKEN)))
    row = done(await controller.acted(row, Step.VERIFY, made(row, size=8)))
    assert await backend.archives(row.id) == [KnownArchive(1, made(row).key, 8, "sha256:0", row.op_id)]


async def test_what_was_sent_is_remembered_until_the_next_archive(
    backend: Backend, controller: ControllerStore
) -> None:
    row = await archiving(backend, controller)
    sent = done(await controller.acted(row, Step.ARCHIVE, sent={"size": 7, "sha256": "0"}))
    assert sent.sent == {"size": 7, "sha256": "0"}
    verified = done(await controller.acted(sent, Step.VERIFY, made(sent)))
    assert verified.sent == sent.sent
    withdrawn = done(await controller.withdraw(verified, Withdraw(Withdrawal.WISH_CHANGED), Phase.STANDBY))
    assert done(await controller.claim(withdrawn, ARCHIVE, uuid4(), Phase.STANDBY)).sent is None


async def test_what_is_known_of_an_archive_is_found_by_its_key(backend: Backend, controller: ControllerStore) -> None:
    row = await archiving(backend, controller)
    found = made(row)
    assert await controller.archive(found.key) is None
    row = done(await controller.acted(row, Step.ARCHIVE))
    row = done(await controller.acted(row, Step.VERIFY, found))
    assert await controller.archive(found.key) == found
    row = done(await controller.retry(row, Retry(LATER, Step.VERIFY, BROKEN)))
    await controller.acted(row, Step.VERIFY, made(row, size=8))
    assert await controller.archive(found.key) == replace(found, size=8)


async def test_every_attempt_to_archive_makes_an_archive_of_its_own(
    backend: Backend, controller: ControllerStore
) -> None:
    first = await archiving(backend, controller)
    assert (first.op_id, first.op_attempt) == (first.archive_op_id, 1)
    second = done(await controller.retry(first, Retry(LATER, Step.ARCHIVE, BROKEN)))
    third = done(await controller.retry(second, Retry(LATER, Step.ARCHIVE, BROKEN)))
    assert second.op_id == third.op_id == first.op_id
    assert len({first.archive_op_id, second.archive_op_id, third.archive_op_id}) == 3


async def test_an_archive_that_is_proven_stays_the_same_while_its_home_is_let_go_of(
    backend: Backend, controller: ControllerStore
) -> None:
    row = done(await controller.enter(await archive_verified(backend, controller), Step.RELEASE))
    again = done(await controller.retry(row, Retry(LATER, Step.RELEASE, BROKEN)))
    assert again.archive_op_id == row.archive_op_id


async def test_archives_of_one_workspace_are_generations(backend: Backend, controller: ControllerStore) -> None:
    row = await archived(backend, controller)
    empty = Begin(Operation.CREATE_EMPTY_ARCHIVE, Step.UPLOAD)
    row = done(await controller.claim(row, empty, uuid4(), Phase.ARCHIVED))
    row = done(await controller.acted(row, Step.UPLOAD, made(row)))
    assert [archive.generation for archive in await backend.archives(row.id)] == [1, 2]


async def test_release_lets_go_of_the_home(backend: Backend, controller: ControllerStore) -> None:
    row = await archive_verified(backend, controller)
    released = done(await controller.enter(row, Step.RELEASE))
    assert (released.home_volume, released.op_volume) == (None, row.home_volume)


async def test_release_for_a_restore_needs_no_other_wish(backend: Backend, controller: ControllerStore) -> None:
    row = await archive_verified(backend, controller)
    row = done(await backend.wish(row, Desired.RUNNING))
    row = done(await backend.place_request(row, request(RequestKind.RESTORE, "older")))
    assert done(await controller.enter(row, Step.RELEASE)).op_step is Step.RELEASE


@pytest.mark.parametrize("wish", [Desired.RUNNING, Desired.STANDBY, Desired.DELETED])
async def test_a_wish_that_changed_at_the_last_moment_keeps_the_home(
    backend: Backend, controller: ControllerStore, wish: Desired
) -> None:
    row = await archive_verified(backend, controller)
    await backend.wish(row, wish)
    assert await controller.enter(row, Step.RELEASE) is None
    assert (await backend.row(row.id)).home_volume == row.home_volume


async def test_no_home_is_let_go_of_without_an_archive(backend: Backend, controller: ControllerStore) -> None:
    row = await archiving(backend, controller)
    assert await controller.enter(row, Step.RELEASE) is None


async def test_a_home_is_let_go_of_once(backend: Backend, controller: ControllerStore) -> None:
    row = await archive_verified(backend, controller)
    released = done(await controller.enter(row, Step.RELEASE))
    assert await controller.enter(released, Step.RELEASE) is None
    assert (await backend.row(row.id)).op_volume == row.home_volume


async def test_an_act_that_had_to_wait_begins_its_clock_anew(backend: Backend, controller: ControllerStore) -> None:
    first, second = [await provisioning(backend, controller) for _ in range(2)]
    gone_on = done(await controller.acted(second, Step.CREATE))
    await controller.begun([first, second])
    row = await backend.row(first.id)
    assert row.op_clock_at is not None
    assert first.op_clock_at is not None
    assert row.op_clock_at > first.op_clock_at
    assert replace(row, op_clock_at=first.op_clock_at) == first
    assert await backend.row(second.id) == gone_on


async def test_an_archive_that_is_not_named_is_never_taken_for_a_stored_one(
    backend: Backend, controller: ControllerStore
) -> None:
    row = done(await controller.acted(await archiving(backend, controller), Step.ARCHIVE))
    with pytest.raises(backend.refused):
        await controller.acted(row, Step.VERIFY)
    assert await backend.row(row.id) == row
