"""What every seat promises: one leader at a time, and a lock that goes with its connection (contract 11)."""

import asyncio

import pytest

from codehub import clock
from codehub.store.protocols import Seat, SeatLost, Term
from tests.contracts.store_backends import AHEAD, Backend

SHORT_LEASE = 1.0


async def leader(backend: Backend, holder_id: str = "first", lease_seconds: float = 5.0) -> tuple[Seat, Term]:
    seat = await backend.take("controller", holder_id, lease_seconds)
    term = await seat.campaign()
    assert term is not None
    return seat, term


async def test_the_first_leader_has_no_one_to_wait_for(backend: Backend) -> None:
    seat, term = await leader(backend)
    assert term == Term(epoch=1, predecessor_released=True)
    assert await seat.holds_lock()


async def test_while_one_leads_another_waits_in_vain(backend: Backend) -> None:
    first, _ = await leader(backend)
    second = await backend.take("controller", "second", SHORT_LEASE)
    assert await second.campaign() is None
    assert not await second.holds_lock()
    assert await first.holds_lock()


async def test_coordinators_do_not_compete_with_each_other(backend: Backend) -> None:
    await leader(backend)
    observer = await backend.take("observer")
    assert await observer.campaign() == Term(epoch=1, predecessor_released=True)


async def test_a_candidate_that_waits_leads_as_soon_as_the_leader_resigns(backend: Backend) -> None:
    first, _ = await leader(backend)
    second = await backend.take("controller", "second")
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        candidacy = tasks.create_task(second.campaign())
        await asyncio.sleep(0.05)
        await first.resign()
    assert candidacy.result() == Term(epoch=2, predecessor_released=True)
    assert not await first.holds_lock()


async def test_a_killed_leader_is_followed_by_one_that_knows_it_left_no_word(backend: Backend) -> None:
    first, _ = await leader(backend)
    second = await backend.take("controller", "second")
    await backend.kill(first)
    assert await second.campaign() == Term(epoch=2, predecessor_released=False)


async def test_a_leader_that_closes_without_resigning_left_no_word_either(backend: Backend) -> None:
    first, _ = await leader(backend)
    second = await backend.take("controller", "second")
    await first.close()
    assert await second.campaign() == Term(epoch=2, predecessor_released=False)


async def test_the_epoch_grows_with_every_leader(backend: Backend) -> None:
    seat = await backend.take("controller")
    epochs = []
    for _ in range(3):
        term = await seat.campaign()
        assert term is not None
        epochs.append(term.epoch)
        await seat.resign()
    assert epochs == [1, 2, 3]


async def test_campaigning_again_as_leader_changes_nothing_and_takes_no_second_lock(backend: Backend) -> None:
    first, term = await leader(backend)
    assert await first.campaign() == term
    await first.resign()
    second = await backend.take("controller", "second")
    assert await second.campaign() == Term(epoch=2, predecessor_released=True)


async def test_who_does_not_lead_has_nothing_to_resign(backend: Backend) -> None:
    first, _ = await leader(backend)
    second = await backend.take("controller", "second")
    await second.resign()
    assert await first.holds_lock()


async def test_of_many_candidates_one_leads(backend: Backend) -> None:
    seats = [await backend.take("controller", f"candidate {n}", SHORT_LEASE) for n in range(5)]
    terms = await asyncio.gather(*(seat.campaign() for seat in seats))
    assert [term.epoch for term in terms if term is not None] == [1]


async def test_a_lost_seat_refuses_everything(backend: Backend) -> None:
    seat, _ = await leader(backend)
    store = backend.controller(seat)
    await backend.kill(seat)
    for call in (seat.campaign, seat.heartbeat, seat.holds_lock, seat.now):
        with pytest.raises(SeatLost):
            await call()
    with pytest.raises(SeatLost):
        await store.unsettled(None, 1)
    await seat.resign()  # there is nothing left to give back


async def test_a_seat_that_is_lost_says_so_at_once(backend: Backend) -> None:
    seat, _ = await leader(backend)
    lost = asyncio.Event()
    seat.when_lost(lost.set)
    await backend.kill(seat)
    await asyncio.wait_for(lost.wait(), 1)


async def test_who_asks_too_late_is_told_at_once(backend: Backend) -> None:
    seat, _ = await leader(backend)
    lost, asked_late = asyncio.Event(), asyncio.Event()
    seat.when_lost(lost.set)
    await backend.kill(seat)
    await asyncio.wait_for(lost.wait(), 1)
    seat.when_lost(asked_late.set)
    assert asked_late.is_set()


async def test_closing_is_no_loss(backend: Backend) -> None:
    seat, _ = await leader(backend)
    lost = asyncio.Event()
    seat.when_lost(lost.set)
    await seat.close()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(lost.wait(), 0.1)
    with pytest.raises(SeatLost):
        await seat.heartbeat()


async def test_a_seat_can_be_closed_after_it_was_lost_and_again(backend: Backend) -> None:
    seat, _ = await leader(backend)
    await backend.kill(seat)
    await seat.close()
    await seat.close()


async def test_a_candidate_that_is_killed_while_it_waits_is_lost(backend: Backend) -> None:
    await leader(backend)
    second = await backend.take("controller", "second")
    candidacy = asyncio.create_task(second.campaign())
    await asyncio.sleep(0.1)
    await backend.kill(second)
    with pytest.raises(SeatLost):
        await candidacy


async def test_a_candidate_that_is_cancelled_while_it_waits_never_holds_the_lock(backend: Backend) -> None:
    first, _ = await leader(backend)
    second = await backend.take("controller", "second")
    candidacy = asyncio.create_task(second.campaign())
    await asyncio.sleep(0.1)
    candidacy.cancel()
    with pytest.raises(asyncio.CancelledError):
        await candidacy
    with pytest.raises(SeatLost):
        await second.heartbeat()
    await first.resign()
    third = await backend.take("controller", "third")
    assert await third.campaign() == Term(epoch=2, predecessor_released=True)


async def test_a_holder_that_is_silent_for_longer_than_its_lease_loses_the_seat(backend: Backend) -> None:
    first, _ = await leader(backend, lease_seconds=SHORT_LEASE)
    lost = asyncio.Event()
    first.when_lost(lost.set)
    await asyncio.wait_for(lost.wait(), SHORT_LEASE + 1)
    with pytest.raises(SeatLost):
        await first.heartbeat()
    second = await backend.take("controller", "second")
    assert await second.campaign() == Term(epoch=2, predecessor_released=False)


async def test_heartbeats_keep_the_lease(backend: Backend) -> None:
    seat, _ = await leader(backend, lease_seconds=SHORT_LEASE)
    for _ in range(8):
        await asyncio.sleep(SHORT_LEASE / 5)
        await seat.heartbeat()
    assert await seat.holds_lock()


async def test_the_time_is_the_databases_own(backend: Backend) -> None:
    seat, _ = await leader(backend)
    assert abs((await seat.now()) - clock.now() - AHEAD).total_seconds() < 60


async def test_who_is_cancelled_between_two_transactions_does_not_lose_the_seat(backend: Backend) -> None:
    seat, _ = await leader(backend)

    async def work() -> None:
        while True:
            await seat.now()

    for _ in range(20):
        working = asyncio.create_task(work())
        await asyncio.sleep(0.002)
        await seat.settle()
        working.cancel()
        await asyncio.wait([working])
        assert working.cancelled()
    await seat.resign()
    second = await backend.take("controller", "second")
    assert await second.campaign() == Term(epoch=2, predecessor_released=True)


async def test_a_seat_that_is_lost_holds_nobody_up(backend: Backend) -> None:
    seat, _ = await leader(backend, lease_seconds=SHORT_LEASE)
    await backend.kill(seat)
    async with asyncio.timeout(60):
        await seat.settle()
