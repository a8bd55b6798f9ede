"""How one comes to lead, knows when it leads no more, and hands over: on real seats, with a clock of the test."""

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from codehub import clock
from codehub.coordinators.leadership import Deposed, Fence, Leadership, lead
from codehub.store.protocols import SeatLost, Term
from codehub.store.seat import PostgresSeat
from tests.coordinators.house import until
from tests.coordinators.sessions import kill_leader, office

LOCK = "coordinator:test"
LEASE_SECONDS = 3.0

Elect = Callable[..., Awaitable["Candidate"]]


@dataclass
class Candidate:
    """One replica that campaigns, and does nothing in office but note that it is there."""

    seat: PostgresSeat
    elapsed: Callable[[], float]
    terms: list[Leadership] = field(default_factory=list)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] = field(init=False)

    def __post_init__(self) -> None:
        self.task = asyncio.create_task(lead(self.seat, LEASE_SECONDS, self.elapsed, self.govern))

    async def govern(self, leadership: Leadership) -> None:
        self.terms.append(leadership)
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            self.cancelled.set()

    async def leads(self) -> Leadership:
        async def elected() -> Leadership | None:
            return self.terms[-1] if self.terms else None

        return await until(elected, 30)

    async def ended(self) -> BaseException | None:
        """What ended its term; None for a cancellation from outside."""
        await asyncio.wait([self.task], timeout=30)
        return None if self.task.cancelled() else self.task.exception()


@pytest.fixture
async def campaign(database_url: str) -> AsyncIterator[Elect]:
    candidates: list[Candidate] = []

    async def campaign(elapsed: Callable[[], float] = clock.elapsed) -> Candidate:
        seat = await PostgresSeat.take(database_url, LOCK, f"replica-{len(candidates)}", LEASE_SECONDS)
        candidates.append(Candidate(seat, elapsed))
        return candidates[-1]

    yield campaign
    for candidate in candidates:
        candidate.task.cancel()
        with contextlib.suppress(asyncio.CancelledError, Deposed):
            await candidate.task
        await candidate.seat.close()


async def test_of_many_candidates_one_leads(campaign: Elect) -> None:
    first = await campaign()
    await first.leads()
    others = [await campaign() for _ in range(3)]
    await asyncio.wait([each.task for each in others], timeout=1.5)
    assert not any(each.terms for each in others)


async def test_whoever_stops_in_order_is_followed_at_once(campaign: Elect, database_url: str) -> None:
    first = await campaign()
    before = await first.leads()
    second = await campaign()
    first.task.cancel()
    assert await first.ended() is None
    after = await second.leads()
    assert after.term.epoch == before.term.epoch + 1
    assert after.term.predecessor_released
    assert after.destructive_acts_wait() == 0
    assert await office(database_url, LOCK) == ("replica-1", after.term.epoch, False)


async def test_a_killed_leader_ends_at_once_and_may_do_nothing_more(campaign: Elect, database_url: str) -> None:
    moment = 0.0  # time stands still: no deadline can be what ends it
    candidate = await campaign(lambda: moment)
    leadership = await candidate.leads()
    leadership.check()
    await kill_leader(database_url, LOCK)
    async with asyncio.timeout(30):
        await candidate.cancelled.wait()
    with pytest.raises(Deposed):
        leadership.check()
    assert isinstance(await candidate.ended(), Deposed)


async def test_who_follows_a_killed_leader_creates_at_once_and_destroys_nothing_for_a_lease(
    campaign: Elect, database_url: str
) -> None:
    first = await campaign()
    before = await first.leads()
    moment = 0.0
    second = await campaign(lambda: moment)
    await kill_leader(database_url, LOCK)
    after = await second.leads()
    after.check()
    assert after.term.epoch == before.term.epoch + 1
    assert after.destructive_acts_wait() == LEASE_SECONDS
    moment = LEASE_SECONDS
    assert after.destructive_acts_wait() == 0


async def test_past_its_deadline_a_leader_may_do_nothing_although_nobody_told_it(campaign: Elect) -> None:
    moment = 0.0
    candidate = await campaign(lambda: moment)
    leadership = await candidate.leads()
    moment = LEASE_SECONDS * 0.89
    leadership.check()
    moment = LEASE_SECONDS * 0.9
    with pytest.raises(Deposed):
        leadership.check()
    assert not leadership.is_lost


async def test_heartbeats_keep_a_leader_in_office_beyond_its_lease(campaign: Elect) -> None:
    candidate = await campaign()
    leadership = await candidate.leads()
    await asyncio.wait([candidate.task], timeout=LEASE_SECONDS * 1.5)
    leadership.check()
    await leadership.verify()


async def test_a_leader_whose_lock_is_gone_finds_out_before_its_next_pass(campaign: Elect) -> None:
    candidate = await campaign()
    leadership = await candidate.leads()
    await candidate.seat.resign()
    with pytest.raises(Deposed):
        await leadership.verify()


@pytest.mark.parametrize("turns", range(8))
async def test_a_shutdown_is_never_taken_for_a_lost_election(campaign: Elect, turns: int) -> None:
    candidate = await campaign()
    leadership = await candidate.leads()
    leadership.lose()
    for _ in range(turns):
        await asyncio.sleep(0)
    was_over = candidate.task.done()
    candidate.task.cancel()
    await candidate.ended()
    assert candidate.task.cancelled() is not was_over


async def test_a_shutdown_during_the_campaign_ends_it(campaign: Elect) -> None:
    await (await campaign()).leads()
    second = await campaign()
    second.task.cancel()
    assert await second.ended() is None


async def test_a_term_that_fails_hands_over_in_order(database_url: str) -> None:
    async def fail(_: Leadership) -> None:
        raise LookupError

    seat = await PostgresSeat.take(database_url, LOCK, "first", LEASE_SECONDS)
    with pytest.raises(LookupError):
        await lead(seat, LEASE_SECONDS, clock.elapsed, fail)
    assert await office(database_url, LOCK) == ("first", 1, True)
    await seat.close()


async def test_a_seat_that_goes_away_during_a_shutdown_does_not_undo_it(campaign: Elect, database_url: str) -> None:
    candidate = await campaign()
    await candidate.leads()
    candidate.task.cancel()
    await kill_leader(database_url, LOCK)
    assert await candidate.ended() is None


async def test_without_a_leadership_that_holds_the_fence_is_shut(database_url: str) -> None:
    moment = 0.0
    seat = await PostgresSeat.take(database_url, LOCK, "first", LEASE_SECONDS)
    leadership = Leadership(seat, Term(1, predecessor_released=True), LEASE_SECONDS, 0.0, lambda: moment)
    fence = Fence()
    with pytest.raises(Deposed):
        fence.check()
    with fence.open_for(leadership):
        fence.check()
        moment = LEASE_SECONDS
        with pytest.raises(Deposed):
            fence.check()
        moment = 0.0
        fence.check()
    with pytest.raises(Deposed):
        fence.check()
    await seat.close()


async def test_what_fails_because_a_term_is_over_is_part_of_its_end(database_url: str) -> None:
    """Nobody is told of it again, as an error that nobody looked at."""
    told: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context["message"]))
    seat = await PostgresSeat.take(database_url, LOCK, "replica", LEASE_SECONDS)
    leading, lost = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        await lost.wait()
        raise SeatLost(LOCK)

    async def govern(leadership: Leadership) -> None:
        leadership.seat.when_lost(lost.set)
        async with asyncio.TaskGroup() as group:
            group.create_task(work())
            leading.set()

    term = asyncio.create_task(lead(seat, LEASE_SECONDS, clock.elapsed, govern))
    async with asyncio.timeout(60):
        await leading.wait()
        await kill_leader(database_url, LOCK)
        await asyncio.wait([term])
    assert isinstance(term.exception(), Deposed)
    await seat.close()
    del term
    gc.collect()
    assert told == []
