"""A coordinator's seat on PostgreSQL: one direct connection that holds its lock and carries its writes."""

import asyncio
import contextlib
import hashlib
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from typing import Literal

import asyncpg
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, InvalidRequestError
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.store.engine import single
from codehub.store.protocols import SeatLost, Term
from codehub.store.shards import is_new, join, leave

LOCK_WAIT_MS = 1000
"""How long a candidate waits inside the server at a time: longer would keep VACUUM from its work."""
LOCK_NOT_AVAILABLE = "55P03"
SESSION_ENDED = ("08", "57P", "25P03", "25P04")
"""How the SQLSTATE of an error begins with which the server ends the session: shutdown, termination, lease run out."""
CUT_SHORT = (DBAPIError, InvalidRequestError, OSError, AttributeError)
"""What work fails with whose connection ends meanwhile; the last is how the driver stumbles over what it let go."""

Isolation = Literal["AUTOCOMMIT", "READ COMMITTED"]

_TAKE_OFFICE = text("""
    INSERT INTO system_locks AS locks (lock_name, holder_id, epoch, acquired_at, released)
    VALUES (:lock_name, :holder_id, 1, clock_timestamp(), false)
    ON CONFLICT (lock_name) DO UPDATE
        SET holder_id = :holder_id, epoch = locks.epoch + 1, acquired_at = clock_timestamp(), released = false
    RETURNING epoch
""")
_WAIT_FOR_LOCK = text("SELECT pg_advisory_lock(:key)")
_UNLOCK = text("SELECT pg_advisory_unlock(:key)")
_PREDECESSOR = text("SELECT released FROM system_locks WHERE lock_name = :lock_name FOR UPDATE")
_LEAVE_OFFICE = text(
    "UPDATE system_locks SET released = true WHERE lock_name = :lock_name AND holder_id = :holder_id AND epoch = :epoch"
)
_HOLDS_LOCK = text("""
    SELECT EXISTS (
        SELECT FROM pg_locks
        WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted AND objsubid = 1
          AND ((classid::bigint << 32) | objid::bigint) = :key
    )
""")


def lock_key(lock_name: str) -> int:
    """The 64 bits that PostgreSQL locks by: the first of the name's SHA-256, as a signed number."""
    return int.from_bytes(hashlib.sha256(lock_name.encode()).digest()[:8], "big", signed=True)


class PostgresSeat:
    """Made by `PostgresSeat.take`. The lock is a lease that the server enforces: a holder that is frozen or cut off
    loses its session, and with it the lock, after `lease_seconds` without a word."""

    def __init__(
        self,
        connection: AsyncConnection,
        driver: asyncpg.Connection,
        lock_name: str,
        holder_id: str,
        lease_seconds: float,
        shards: int | None,
    ) -> None:
        self._connection = connection
        self._driver = driver
        self._lock_name = lock_name
        self._holder_id = holder_id
        self._key = lock_key(lock_name)
        self._lease_seconds = lease_seconds
        self._shards = shards
        self._term: Term | None = None
        self._isolation: Isolation | None = None
        self._turn = asyncio.Lock()  # the driver does one thing at a time
        self._lost = False
        self._when_lost: list[Callable[[], None]] = []
        self._driver.add_termination_listener(lambda _: self._be_lost())

    @classmethod
    async def take(
        cls, database_url: str, lock_name: str, holder_id: str, lease_seconds: float, shards: int | None = None
    ) -> "PostgresSeat":
        """`shards`: of how many parts this is one, for a coordinator whose work is divided."""
        lease_ms = int(lease_seconds * 1000)
        engine = single(
            database_url,
            f"codehub {lock_name}",
            idle_session_timeout=str(lease_ms),
            idle_in_transaction_session_timeout=str(lease_ms),
            statement_timeout=str(lease_ms // 2),
            lock_timeout=str(min(LOCK_WAIT_MS, lease_ms // 4)),
            client_connection_check_interval="500",
            tcp_keepalives_idle="2",
            tcp_keepalives_interval="1",
            tcp_keepalives_count="3",
        )
        try:
            connection = await engine.connect()
        except (OSError, DBAPIError) as error:
            raise SeatLost(str(error)) from error
        driver = (await connection.get_raw_connection()).driver_connection
        return cls(connection, driver, lock_name, holder_id, lease_seconds, shards)

    async def campaign(self) -> Term | None:
        if self._term is not None:
            return self._term  # session locks stack: a second acquire would need a second release
        async with self._wholly() as connection:
            if not await self._wait_for_lock(connection):
                return None
            joined = self._shards is None or await join(connection, self._shards)
            if joined:
                return await self._take_office(connection)
            await connection.execute(_UNLOCK, {"key": self._key})
        await asyncio.sleep(random.uniform(0.5, 1) * min(LOCK_WAIT_MS / 1000, self._lease_seconds / 4))  # noqa: S311
        return None

    async def _take_office(self, connection: AsyncConnection) -> Term:
        released = await connection.scalar(_PREDECESSOR, {"lock_name": self._lock_name})
        divided_anew = self._shards is not None and await is_new(connection, self._lease_seconds)
        epoch = await connection.scalar(_TAKE_OFFICE, {"lock_name": self._lock_name, "holder_id": self._holder_id})
        self._term = Term(epoch, predecessor_released=released is not False and not divided_anew)
        return self._term

    async def heartbeat(self) -> None:
        async with self.statement() as connection:
            await connection.execute(text("SELECT 1"))

    async def holds_lock(self) -> bool:
        async with self.statement() as connection:
            return bool(await connection.scalar(_HOLDS_LOCK, {"key": self._key}))

    async def now(self) -> datetime:
        async with self.statement() as connection:
            moment: datetime = await connection.scalar(text("SELECT clock_timestamp()"))
            return moment

    async def settle(self) -> None:
        with contextlib.suppress(TimeoutError):  # the server ends a statement that takes longer
            async with asyncio.timeout(self._lease_seconds / 2), self._turn:
                pass

    async def resign(self) -> None:
        if self._term is None:
            return
        office = {"lock_name": self._lock_name, "holder_id": self._holder_id, "epoch": self._term.epoch}
        async with self._wholly() as connection:
            await connection.execute(_LEAVE_OFFICE, office)
            if self._shards is not None:
                await leave(connection, self._shards)
            await connection.execute(_UNLOCK, {"key": self._key})  # who has it now waits for our row, and reads it
        self._term = None

    async def close(self) -> None:
        """Hang up without waiting: neither a statement under way nor a server that does not answer holds this up."""
        self._when_lost.clear()
        self._be_lost()
        async with self._turn:
            if not self._connection.closed:
                await self._connection.invalidate()
                await self._connection.close()

    async def listen(self, channels: Sequence[str], heard: Callable[[str, str], None]) -> None:
        """Call back with channel and payload of every notification, for as long as the connection lasts."""
        async with self.transaction():
            for channel in channels:
                await self._driver.add_listener(channel, lambda _, __, name, payload: heard(name, payload))

    def when_lost(self, callback: Callable[[], None]) -> None:
        if self._lost:
            callback()
        else:
            self._when_lost.append(callback)

    def statement(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """One statement, which the server makes a transaction of its own: a third of the round trips, and no moment
        between the write and its commit."""
        return self._at_work("AUTOCOMMIT")

    def transaction(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """One short transaction. Nothing stays open between two of them, and nothing foreign happens inside."""
        return self._at_work("READ COMMITTED")

    @asynccontextmanager
    async def _at_work(self, isolation: Isolation) -> AsyncIterator[AsyncConnection]:
        """Work that is cancelled on its way, or has no answer when the lease is over, costs the seat: nobody knows how
        far the server has come, and SQLAlchemy would go on over a new connection, which holds no lock."""
        async with self._turn:
            if self._lost:
                raise SeatLost(self._lock_name)
            patience = asyncio.get_running_loop().call_later(self._lease_seconds, self._be_lost)
            try:
                if isolation != self._isolation:
                    await self._connection.execution_options(isolation_level=isolation)
                    self._isolation = isolation
                async with self._connection.begin():
                    yield self._connection
            except CUT_SHORT as error:
                if not self._has_ended(error):
                    raise
                raise self._give_away() from error
            except asyncio.CancelledError:
                self._be_lost()
                raise
            finally:
                patience.cancel()

    async def _wait_for_lock(self, connection: AsyncConnection) -> bool:
        try:
            async with connection.begin_nested():
                await connection.execute(_WAIT_FOR_LOCK, {"key": self._key})
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) == LOCK_NOT_AVAILABLE:
                return False
            raise
        return True

    @asynccontextmanager
    async def _wholly(self) -> AsyncIterator[AsyncConnection]:
        """A transaction of which nothing less than all will do: a lock that is held, but not known to be, leaks."""
        try:
            async with self.transaction() as connection:
                yield connection
        except DBAPIError as error:
            raise self._give_away() from error

    def _has_ended(self, error: Exception) -> bool:
        sqlstate = getattr(getattr(error, "orig", None), "sqlstate", None) or ""
        return self._lost or self._driver.is_closed() or sqlstate.startswith(SESSION_ENDED)

    def _give_away(self) -> SeatLost:
        self._be_lost()
        return SeatLost(self._lock_name)

    def _be_lost(self) -> None:
        if self._lost:
            return
        self._lost, self._term = True, None
        self._driver.terminate()
        callbacks, self._when_lost = self._when_lost, []
        for callback in callbacks:
            callback()
