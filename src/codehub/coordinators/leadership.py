"""One leader per coordinator, fenced (contract 11): how one comes to lead, and knows when it no longer does."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar

from codehub.store.protocols import Seat, SeatLost, Term

HEARTBEATS_PER_LEASE = 5
MARGIN = 0.1
"""The share of the lease that a leader leaves unused: its clock may run slower than the server's."""


class Deposed(Exception):
    """This process may no longer act: its lease has run out, or its connection is gone."""


class Leadership:
    """A term in office. `check` is called as the last thing before every act on the outside world, with no await in
    between; past the deadline it raises and nothing is done."""

    def __init__(
        self, seat: Seat, term: Term, lease_seconds: float, began: float, elapsed: Callable[[], float]
    ) -> None:
        self.seat = seat
        self.term = term
        self._lease = lease_seconds
        self._elapsed = elapsed
        self._deadline = began + lease_seconds * (1 - MARGIN)
        # A predecessor that did not leave in order may still be acting on its last heartbeat: nothing is destroyed
        # until its lease has run out. What it creates meanwhile carries another name than what we create.
        self._may_destroy_from = began if term.predecessor_released else elapsed() + lease_seconds
        self._lost = asyncio.Event()

    def check(self) -> None:
        if self._lost.is_set() or self._elapsed() >= self._deadline:
            raise Deposed

    @property
    def is_lost(self) -> bool:
        return self._lost.is_set()

    def destructive_acts_wait(self) -> float:
        """For how many seconds nothing may be stopped, deleted or collected yet."""
        return max(0.0, self._may_destroy_from - self._elapsed())

    def lose(self) -> None:
        """The connection is gone: everything that runs under this leadership ends now, not at the deadline."""
        self._lost.set()

    async def keep(self) -> None:
        """Renew the lease until it cannot be renewed, then raise."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._lease / HEARTBEATS_PER_LEASE):
                    await self._lost.wait()
            if self._lost.is_set():
                raise Deposed
            sent = self._elapsed()
            await self.seat.heartbeat()
            self._deadline = sent + self._lease * (1 - MARGIN)

    async def verify(self) -> None:
        """A second look before each pass, at the server's own list of locks."""
        if not await self.seat.holds_lock():
            raise Deposed
        self.check()


async def lead(
    seat: Seat, lease_seconds: float, elapsed: Callable[[], float], govern: Callable[[Leadership], Awaitable[None]]
) -> None:
    """Wait until this seat leads, then govern. `govern` runs in a task of its own, so that losing leadership (which
    cancels it, and ends in `Deposed`) is never confused with this call being cancelled (a shutdown). Whenever the seat
    is still ours in the end, it is handed over at once."""
    leadership = await _win(seat, lease_seconds, elapsed)
    keeping = asyncio.create_task(leadership.keep(), name="heartbeat")
    governing = asyncio.ensure_future(govern(leadership))
    try:
        await asyncio.wait([keeping, governing], return_when=asyncio.FIRST_COMPLETED)
        if keeping.done() or leadership.is_lost:
            leadership.lose()
            raise Deposed from _error_of(keeping) or _error_of(governing)
        try:
            await governing
        except ExceptionGroup as several:  # a coordinator's task group wraps what ended its term
            if several.split((Deposed, SeatLost))[1] is None:
                raise Deposed from several
            raise
    finally:
        # Under a lease that is still kept, so that what it does to end is no late act.
        await _end(governing, leadership)
        await _end(keeping, leadership)
        if not leadership.is_lost:
            with contextlib.suppress(SeatLost):  # gone in this moment: the successor will wait out the lease
                await seat.resign()


async def _win(seat: Seat, lease_seconds: float, elapsed: Callable[[], float]) -> Leadership:
    while True:
        began = elapsed()
        term = await seat.campaign()
        if term is not None:
            leadership = Leadership(seat, term, lease_seconds, began, elapsed)
            seat.when_lost(leadership.lose)
            return leadership


async def _end(task: asyncio.Future[None], leadership: Leadership) -> None:
    """End it between two transactions: one that is cancelled on its way costs the seat, and the successor a wait. What
    it fails with as it ends is looked at and let go: the term is over, and why is told already."""
    if not leadership.is_lost:
        await leadership.seat.settle()
    task.cancel()
    await asyncio.wait([task])
    _error_of(task)


def _error_of(task: asyncio.Future[None]) -> BaseException | None:
    return task.exception() if task.done() and not task.cancelled() else None


class Fence:
    """Stands between the controllers and the runtime: without a leadership that holds at this very moment, no call that
    changes anything leaves this process. Each controller has its own: what counts is in whose task the call is made."""

    def __init__(self) -> None:
        self._leadership: ContextVar[Leadership | None] = ContextVar("leadership", default=None)

    @contextlib.contextmanager
    def open_for(self, leadership: Leadership) -> Iterator[None]:
        """For this task and those that it starts."""
        before = self._leadership.set(leadership)
        try:
            yield
        finally:
            self._leadership.reset(before)

    def check(self) -> None:
        leadership = self._leadership.get()
        if leadership is None:
            raise Deposed
        leadership.check()
