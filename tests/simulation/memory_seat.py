"""The twin of a coordinator's seat: a session that may be dropped at any moment, and the lock that goes with it."""

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import Context, copy_context
from dataclasses import dataclass, field, replace
from datetime import datetime

from codehub.store.protocols import Notice, SeatLost, Term
from tests.simulation.loop import PAUSE
from tests.simulation.memory_database import MemoryDatabase, Office

LOCK_WAIT_SECONDS = 1.0


@dataclass(slots=True)
class MemoryServer:
    """One database and the sessions that hold or want its locks."""

    database: MemoryDatabase
    holders: dict[str, "MemorySeat"] = field(default_factory=dict)
    queues: dict[str, list["MemorySeat"]] = field(default_factory=dict)
    context: Context = field(default_factory=Context)
    """What the server does by itself belongs to no process."""

    def pass_on(self, lock_name: str) -> None:
        """Give a lock that has become free to the one who has waited longest."""
        queue = self.queues.get(lock_name, [])
        if queue:
            self.holders[lock_name] = queue.pop(0)
            self.holders[lock_name].granted.set()
        else:
            self.holders.pop(lock_name, None)


class MemorySeat:
    """Every call gives way to others before and after its effect: there a simulation may stop or drop it."""

    def __init__(self, server: MemoryServer, lock_name: str, holder_id: str, lease_seconds: float) -> None:
        self._server = server
        self._lock_name = lock_name
        self._holder_id = holder_id
        self._lease_seconds = lease_seconds
        self._term: Term | None = None
        self._lost = False
        self._turn = asyncio.Lock()
        self._transaction = Transaction(self)
        self._when_lost: list[Callable[[], None]] = []
        self.granted = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._context = copy_context()
        self._under_way = False
        self._used_at = self._loop.time()
        self._look_at_lease(lease_seconds)

    async def campaign(self) -> Term | None:
        if self._term is not None:
            return self._term
        async with self.transaction() as database:
            if not await self._wait_for_lock():
                return None
            predecessor = database.offices.get(self._lock_name)
            epoch = predecessor.epoch + 1 if predecessor is not None else 1
            database.offices[self._lock_name] = Office(self._holder_id, epoch, database.clock())
            self._term = Term(epoch, predecessor_released=predecessor is None or predecessor.released)
        return self._term

    async def heartbeat(self) -> None:
        async with self.transaction():
            pass

    async def holds_lock(self) -> bool:
        async with self.transaction():
            return self._server.holders.get(self._lock_name) is self

    async def now(self) -> datetime:
        async with self.transaction() as database:
            return database.clock()

    async def settle(self) -> None:
        async with self._turn:
            pass

    async def resign(self) -> None:
        if self._term is None:
            return
        async with self.transaction() as database:
            database.offices[self._lock_name] = replace(database.offices[self._lock_name], released=True)
            self._server.pass_on(self._lock_name)
        self._term = None

    async def close(self) -> None:
        self._when_lost.clear()
        self.drop()

    async def listen(self, heard: Callable[[Notice], None]) -> None:
        async with self.transaction() as database:
            database.listeners[self] = heard

    def when_lost(self, callback: Callable[[], None]) -> None:
        if self._lost:
            callback()
        else:
            self._when_lost.append(callback)

    def drop(self) -> None:
        """The session ends, whatever it was doing; its lock is free at once."""
        if self._lost:
            return
        self._lost, self._term = True, None
        self._server.database.listeners.pop(self, None)
        if self in self._server.queues.get(self._lock_name, []):
            self._server.queues[self._lock_name].remove(self)
        if self._server.holders.get(self._lock_name) is self:
            self._server.pass_on(self._lock_name)
        self.granted.set()
        callbacks, self._when_lost = self._when_lost, []
        for callback in callbacks:  # a process that is frozen learns of it when it goes on
            self._loop.call_soon(callback, context=self._context)

    def transaction(self) -> "Transaction":
        return self._transaction

    def _begun(self) -> MemoryDatabase:
        return self._server.database

    def _committed(self) -> Awaitable[object]:
        """What was done is done, and nobody knows yet."""
        return PAUSE

    def _look_at_lease(self, seconds: float) -> None:
        """By the server's own clock: it goes on while the session's process is frozen."""
        self._loop.call_later(seconds, self._end_if_idle, context=self._server.context)

    def _end_if_idle(self) -> None:
        left = self._used_at + self._lease_seconds - self._loop.time()
        if self._lost:
            return
        if left <= 0 and not self._under_way:
            self.drop()
        else:
            self._look_at_lease(left if left > 0 else self._lease_seconds)

    async def _wait_for_lock(self) -> bool:
        if self._lock_name not in self._server.holders:
            self._server.holders[self._lock_name] = self
            return True
        self.granted.clear()
        queue = self._server.queues.setdefault(self._lock_name, [])
        queue.append(self)
        try:
            async with asyncio.timeout(min(LOCK_WAIT_SECONDS, self._lease_seconds / 4)):
                await self.granted.wait()
        except TimeoutError:
            if self in queue:
                queue.remove(self)
                return False
        self._must_be_held()
        return True

    def _must_be_held(self) -> None:
        if self._lost:
            raise SeatLost(self._lock_name)


class Transaction:
    """One after the other. What happens inside without an await happens at once or not at all. One that is dropped
    afterwards has happened, but its answer is lost; one that is cancelled costs the seat."""

    __slots__ = ("_seat",)

    def __init__(self, seat: MemorySeat) -> None:
        self._seat = seat

    async def __aenter__(self) -> MemoryDatabase:
        seat = self._seat
        await seat._turn.acquire()
        try:
            seat._must_be_held()
            seat._under_way = True
            await PAUSE
            seat._must_be_held()
            return seat._begun()
        except BaseException as error:
            self._end(error)
            raise

    async def __aexit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        seat = self._seat
        try:
            if error is None:
                await seat._committed()
                seat._must_be_held()
        except BaseException as lost:
            error = lost
            raise
        finally:
            self._end(error)

    def _end(self, error: BaseException | None) -> None:
        seat = self._seat
        if isinstance(error, asyncio.CancelledError):
            seat.drop()
        seat._under_way, seat._used_at = False, seat._loop.time()
        seat._turn.release()
