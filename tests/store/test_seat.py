"""A seat on a PostgreSQL that misbehaves: whatever happens, it is either usable or lost, and never waits for ever."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from uuid import uuid4

import asyncpg
import pytest
from sqlalchemy import make_url, text
from sqlalchemy.exc import DBAPIError

from codehub.store.protocols import SeatLost, Term
from codehub.store.seat import PostgresSeat, lock_key

LEASE_SECONDS = 2.0
SLOW = text("SELECT pg_sleep(30)")
LOGIN = "SELECT login FROM users"
INSERT_USER = text("INSERT INTO users (id, login, password_hash) VALUES (gen_random_uuid(), 'a', '')")

Take = Callable[..., Awaitable[PostgresSeat]]


@pytest.fixture
async def take(database_url: str) -> AsyncIterator[Take]:
    seats: list[PostgresSeat] = []

    async def take(holder_id: str = "first", lock_name: str = "coordinator:test") -> PostgresSeat:
        seats.append(await PostgresSeat.take(database_url, lock_name, holder_id, LEASE_SECONDS))
        return seats[-1]

    yield take
    for seat in seats:
        await seat.close()


@pytest.fixture
async def operator(database_url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


async def sessions(operator: asyncpg.Connection) -> int:
    query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'codehub coordinator:test'"
    return int(await operator.fetchval(query))


async def no_sessions_left(operator: asyncpg.Connection) -> None:
    async with asyncio.timeout(60):
        while await sessions(operator):
            await asyncio.sleep(0.01)


async def sleep_in_database(seat: PostgresSeat) -> None:
    async with seat.transaction() as connection:
        await connection.execute(SLOW)


async def insert_user(seat: PostgresSeat, and_then: Callable[[], Awaitable[None]]) -> None:
    """Write, and do something else before the commit."""
    async with seat.transaction() as connection:
        await connection.execute(INSERT_USER)
        await and_then()


async def kill(operator: asyncpg.Connection, seat: PostgresSeat) -> None:
    await operator.execute("SELECT pg_terminate_backend($1, 5000)", seat._driver.get_server_pid())


async def fail() -> None:
    raise ZeroDivisionError


@asynccontextmanager
async def frozen(seat: PostgresSeat) -> AsyncIterator[None]:
    """The server's process behind the seat stands still: what is sent is neither answered nor refused."""
    pid = seat._driver.get_server_pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


async def test_a_session_killed_before_its_commit_has_written_nothing(take: Take, operator: asyncpg.Connection) -> None:
    seat = await take()
    with pytest.raises(SeatLost):
        await insert_user(seat, and_then=lambda: kill(operator, seat))
    assert await operator.fetch(LOGIN) == []
    with pytest.raises(SeatLost):
        await seat.heartbeat()


async def test_a_driver_that_stumbles_over_a_connection_that_ended_has_lost_the_seat(
    take: Take, operator: asyncpg.Connection
) -> None:
    seat = await take()
    lost = asyncio.Event()
    seat.when_lost(lost.set)

    async def stumble() -> None:
        await kill(operator, seat)
        await lost.wait()
        raise AttributeError("'NoneType' object has no attribute 'close_statement'")

    with pytest.raises(SeatLost):
        await insert_user(seat, and_then=stumble)


async def test_a_failing_block_writes_nothing_and_keeps_the_seat(take: Take, operator: asyncpg.Connection) -> None:
    seat = await take()
    await seat.campaign()
    with pytest.raises(ZeroDivisionError):
        await insert_user(seat, and_then=fail)
    assert await operator.fetch(LOGIN) == []
    assert await seat.holds_lock()


async def test_a_statement_cancelled_on_its_way_costs_the_seat_and_frees_the_lock(take: Take) -> None:
    """Going on over a connection that SQLAlchemy opened anew would write without the lock."""
    seat = await take()
    await seat.campaign()
    lost = asyncio.Event()
    seat.when_lost(lost.set)
    sleeping = asyncio.create_task(sleep_in_database(seat))
    await asyncio.sleep(0.1)
    sleeping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sleeping
    assert lost.is_set()
    with pytest.raises(SeatLost):
        await seat.heartbeat()
    successor = await take("second")
    assert await successor.campaign() == Term(epoch=2, predecessor_released=False)


async def test_a_transaction_cancelled_between_two_statements_costs_the_seat_too(
    take: Take, operator: asyncpg.Connection
) -> None:
    seat = await take()
    inserting = asyncio.create_task(insert_user(seat, and_then=lambda: asyncio.sleep(30)))
    await asyncio.sleep(0.2)
    inserting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await inserting
    with pytest.raises(SeatLost):
        await seat.heartbeat()
    assert await operator.fetch(LOGIN) == []


async def test_a_call_cancelled_while_it_waits_for_its_turn_harms_nobody(take: Take) -> None:
    seat = await take()
    await seat.campaign()
    async with seat.transaction() as connection:
        waiting = asyncio.create_task(seat.heartbeat())
        await asyncio.sleep(0.01)
        waiting.cancel()
        await connection.execute(text("SELECT 1"))
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await seat.holds_lock()


async def test_closing_does_not_wait_for_a_statement_under_way(take: Take, operator: asyncpg.Connection) -> None:
    seat = await take()
    sleeping = asyncio.create_task(sleep_in_database(seat))
    await asyncio.sleep(0.1)
    async with asyncio.timeout(60):
        await seat.close()
    with pytest.raises(SeatLost):
        await sleeping
    await no_sessions_left(operator)


async def test_a_server_that_does_not_answer_costs_the_seat_when_the_lease_is_over(take: Take) -> None:
    seat = await take()
    async with frozen(seat), asyncio.timeout(LEASE_SECONDS + 1):
        with pytest.raises(SeatLost):
            await seat.heartbeat()


async def test_a_server_that_does_not_answer_holds_up_neither_cancelling_nor_closing(take: Take) -> None:
    seat = await take()
    async with frozen(seat), asyncio.timeout(LEASE_SECONDS + 3):
        beating = asyncio.create_task(seat.heartbeat())
        await asyncio.sleep(0.05)
        beating.cancel()
        with pytest.raises(asyncio.CancelledError):
            await beating
        await seat.close()


async def test_a_row_that_another_holds_fails_the_call_and_keeps_the_seat(
    take: Take, operator: asyncpg.Connection
) -> None:
    seat = await take()
    await seat.campaign()
    async with operator.transaction():
        await operator.execute("LOCK TABLE users")
        with pytest.raises(DBAPIError, match="lock timeout"):
            async with seat.transaction() as connection:
                await connection.execute(text(LOGIN))
    assert await seat.holds_lock()


async def test_a_statement_that_takes_too_long_is_ended_before_the_lease_is(take: Take) -> None:
    seat = await take()
    await seat.campaign()
    async with asyncio.timeout(LEASE_SECONDS):
        with pytest.raises(DBAPIError, match="statement timeout"):
            await sleep_in_database(seat)
    assert await seat.holds_lock()


async def test_a_lock_without_an_office_is_not_kept(take: Take, operator: asyncpg.Connection) -> None:
    """Between lock and office something failed: a lock that nobody knows of would stay until the session ends."""
    await operator.execute("ALTER TABLE system_locks RENAME TO elsewhere")
    seat = await take()
    with pytest.raises(SeatLost):
        await seat.campaign()
    await operator.execute("ALTER TABLE elsewhere RENAME TO system_locks")
    assert await (await take("second")).campaign() == Term(epoch=1, predecessor_released=True)


async def test_nothing_is_left_in_the_server_after_closing(take: Take, operator: asyncpg.Connection) -> None:
    seat = await take()
    await seat.campaign()
    await seat.close()
    await no_sessions_left(operator)


async def test_taking_a_seat_can_be_cancelled(database_url: str, operator: asyncpg.Connection) -> None:
    for turns in range(12):
        taking = asyncio.create_task(PostgresSeat.take(database_url, "coordinator:test", "first", LEASE_SECONDS))
        for _ in range(turns):
            await asyncio.sleep(0.002)
        if not taking.cancel():
            await (await taking).close()
        await asyncio.wait([taking])
    await no_sessions_left(operator)


async def test_without_a_server_there_is_no_seat(database_url: str) -> None:
    url = make_url(database_url)
    unreachable = [
        url.set(host="127.0.0.1", port=1, query={}),
        url.set(database="missing"),
        url.set(password="wrong"),
        url.set(username="nobody"),
    ]
    for each in unreachable:
        with pytest.raises(SeatLost):
            await PostgresSeat.take(each.render_as_string(hide_password=False), "test", "first", LEASE_SECONDS)


@pytest.mark.parametrize("is_negative", [True, False])
async def test_locks_of_every_key_are_found_in_the_servers_list(take: Take, *, is_negative: bool) -> None:
    name = next(name for name in (uuid4().hex for _ in range(1000)) if (lock_key(name) < 0) is is_negative)
    seat = await take(lock_name=name)
    assert not await seat.holds_lock()
    await seat.campaign()
    assert await seat.holds_lock()
