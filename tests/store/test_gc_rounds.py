"""Rounds as leader and API write them down."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from codehub.store import gc_rounds
from codehub.store.engine import single
from codehub.store.gc_rounds import PostgresRounds, RoundTold
from codehub.store.seat import PostgresSeat

DONE = RoundTold(seen=3, kept={"why": 2}, waiting=1, deleted={"archive": 1}, pruned={"sessions": 4}, due=1)
HALTED = RoundTold(seen=9, kept={}, waiting=0, deleted={}, pruned={}, due=9, halted="too much")
OLD = RoundTold(seen=0, kept={}, waiting=0, deleted={}, pruned={}, due=0, halted="an old backup")


@pytest.fixture
async def rounds(database_url: str) -> AsyncIterator[PostgresRounds]:
    seat = await PostgresSeat.take(database_url, "coordinator:gc", "test", 5)
    yield PostgresRounds(seat, interval=timedelta(hours=4))
    await seat.close()


@pytest.fixture
async def api(database_url: str) -> AsyncIterator[AsyncEngine]:
    engine = single(database_url, "tests")
    yield engine
    await engine.dispose()


async def made(rounds: PostgresRounds, told: RoundTold) -> None:
    begun = await rounds.begin()
    assert begun is not None
    await rounds.end(begun.id, told)


async def test_the_first_round_is_due_at_once_and_the_next_after_the_interval(
    rounds: PostgresRounds, api: AsyncEngine
) -> None:
    await made(rounds, DONE)
    assert await rounds.begin() is None
    async with api.begin() as connection:
        await connection.execute(text("UPDATE gc_rounds SET began_at = began_at - interval '4 hours'"))
    assert await rounds.begin() is not None


async def test_what_a_round_came_to_is_kept(rounds: PostgresRounds, api: AsyncEngine) -> None:
    await made(rounds, DONE)
    async with api.connect() as connection:
        (row,) = await gc_rounds.newest(connection, 10)
        assert row == await gc_rounds.last_ended(connection) == await gc_rounds.one(connection, row["id"])
    assert {name: row[name] for name in ("seen", "kept", "waiting", "deleted", "pruned", "due", "halted")} == {
        "seen": 3,
        "kept": {"why": 2},
        "waiting": 1,
        "deleted": {"archive": 1},
        "pruned": {"sessions": 4},
        "due": 1,
        "halted": None,
    }


async def test_one_that_is_asked_for_is_made_before_its_time(rounds: PostgresRounds, api: AsyncEngine) -> None:
    await made(rounds, DONE)
    async with api.begin() as connection:
        asked = await gc_rounds.ask(connection, "ada")
        assert (await gc_rounds.ask(connection, "bob"))["id"] == asked["id"]
    begun = await rounds.begin()
    assert begun is not None
    assert begun.id == asked["id"]


async def test_one_that_failed_or_was_cut_short_is_begun_again(rounds: PostgresRounds, api: AsyncEngine) -> None:
    begun = await rounds.begin()
    assert begun is not None
    await rounds.failed(begun.id, "no listing")
    assert await rounds.begin() == begun
    async with api.connect() as connection:
        row = await gc_rounds.one(connection, begun.id)
        assert row is not None
        assert row["failed"] == "no listing"
    await rounds.end(begun.id, DONE)
    async with api.connect() as connection:
        row = await gc_rounds.one(connection, begun.id)
        assert row is not None
        assert row["failed"] is None


async def test_what_was_confirmed_holds_for_the_next_round_alone(rounds: PostgresRounds, api: AsyncEngine) -> None:
    await made(rounds, HALTED)
    assert await rounds.halted() == "too much"
    async with api.begin() as connection:
        assert await gc_rounds.confirm(connection, "ada") is not None
        assert await gc_rounds.confirm(connection, "ada") is None
        await gc_rounds.ask(connection, "ada")
    assert await rounds.halted() is None
    begun = await rounds.begin()
    assert begun is not None
    assert begun.confirmed == 9
    await rounds.end(begun.id, DONE)
    async with api.begin() as connection:
        await gc_rounds.ask(connection, "ada")
    begun = await rounds.begin()
    assert begun is not None
    assert begun.confirmed == 0


async def test_an_old_database_is_not_confirmed_as_a_large_round(rounds: PostgresRounds, api: AsyncEngine) -> None:
    await made(rounds, OLD)
    async with api.begin() as connection:
        assert await gc_rounds.confirm(connection, "ada") is None
