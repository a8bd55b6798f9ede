"""One leader per coordinator, fenced (contract 11): how one comes to lead, and knows when it no longer does."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator

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
                await asyncio.wait_for(self._lost.wait(), self._lease / HEARTBEATS_PER_LEASE)
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


@contextlib.asynccontextmanager
async def lead(seat: Seat, lease_seconds: float, elapsed: Callable[[], float]) -> AsyncIterator[Leadership]:
    """Wait until this seat leads, and lead for as long as the block lasts. The block is cancelled when leadership is
    lost, and that ends in `Deposed`; leaving it in any other way hands over at once."""
    term = None
    while term is None:
        began = elapsed()
        term = await seat.campaign()
    leadership = Leadership(seat, term, lease_seconds, began, elapsed)
    seat.when_lost(leadership.lose)
    keeping = asyncio.create_task(leadership.keep(), name="heartbeat")
    body = asyncio.current_task()
    assert body is not None  # noqa: S101 (a context manager runs in a task)
    cancelled_before = body.cancelling()
    deposed = False

    def end_the_body(_: asyncio.Task[None]) -> None:
        nonlocal deposed
        deposed = True
        leadership.lose()
        body.cancel()

    keeping.add_done_callback(end_the_body)
    try:
        yield leadership
    except asyncio.CancelledError as cancelled:
        if deposed and body.uncancel() <= cancelled_before:
            raise Deposed from (keeping.exception() or cancelled)
        raise  # somebody else wants this to end: a shutdown is never taken for a lost election
    finally:
        keeping.remove_done_callback(end_the_body)
        keeping.cancel()
        with contextlib.suppress(asyncio.CancelledError, Deposed, SeatLost):
            await keeping
        if not leadership.is_lost:
            await seat.resign()


class Fence:
    """Stands between the controller and the runtime: without a leadership that holds at this very moment, no call that
    changes anything leaves this process."""

    def __init__(self) -> None:
        self._leadership: Leadership | None = None

    @contextlib.contextmanager
    def open_for(self, leadership: Leadership) -> Iterator[None]:
        self._leadership = leadership
        try:
            yield
        finally:
            self._leadership = None

    def check(self) -> None:
        if self._leadership is None:
            raise Deposed
        self._leadership.check()
