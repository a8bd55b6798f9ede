"""Who is put to sleep, and who never is: races, and services that go, come back and come back empty."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TypeVar
from uuid import UUID, uuid4

import asyncpg
import pytest
from redis.asyncio import Redis

from codehub import clock
from codehub.bus.activity import Activity
from codehub.bus.activity_keys import Keys
from codehub.bus.activity_watch import ActivityWatch
from codehub.bus.connect import connect
from codehub.bus.hints import Hints, Listener
from codehub.coordinators.ttl_runner import BATCH, TtlRunner
from codehub.decide.idle import IdlePolicy
from codehub.model.activity import Doors, Kind, Sign
from codehub.model.states import Phase
from codehub.stack.account import Account
from codehub.store.idle import PostgresIdle
from codehub.store.protocols import SeatLost
from codehub.store.seat import PostgresSeat
from codehub.telemetry.metrics import fresh
from tests.coordinators.ear import listening
from tests.coordinators.house import House, until
from tests.coordinators.own_service import OwnService, own_redis
from tests.coordinators.sessions import kill_all

POLICY = IdlePolicy(standby_after_seconds=600, archive_after_seconds=1800)
AGES = 10**5
OWNER = UUID(int=1)

T = TypeVar("T")
Meanwhile = Callable[[], Awaitable[object]]


class Interrupted(PostgresIdle):
    """The store, and what happens right after it has done something for the first time."""

    def __init__(self, seat: PostgresSeat, **meanwhile: Meanwhile) -> None:
        super().__init__(seat, POLICY)
        self._meanwhile = meanwhile

    async def bring_in(self, signs: Sequence[Sign]) -> None:
        await super().bring_in(signs)
        await self._then("bring_in", None)

    async def may_stand_by(self, doors: Doors, most: int) -> Sequence[UUID]:
        return await self._then("may_stand_by", await super().may_stand_by(doors, most))

    async def _then(self, name: str, outcome: T) -> T:
        if name in self._meanwhile:
            await self._meanwhile.pop(name)()
        return outcome


@dataclass
class Town:
    """Workspaces that everybody left long ago, a front door, and runners that look for the idle."""

    redis: Redis
    prefix: str
    database_url: str
    connection: asyncpg.Connection
    door: Activity = field(init=False)
    keys: Keys = field(init=False)

    def __post_init__(self) -> None:
        self.keys = Keys(f"{self.prefix}:activity")
        self.door = Activity(self.redis, self.keys, "door", 30)

    async def workspace(self, phase: str = "RUNNING", **columns: object) -> UUID:
        workspace_id = uuid4()
        await self.connection.execute(
            """INSERT INTO workspaces (id, owner_user_id, name, phase, desired_state, phase_changed_at, last_access_at)
               VALUES ($1::uuid, $2, $1::uuid::text, $3, $3, now() - interval '1 day', now() - interval '1 day')""",
            *(workspace_id, OWNER, phase),
        )
        for column, value in columns.items():
            await self.connection.execute(f"UPDATE workspaces SET {column} = $2 WHERE id = $1", workspace_id, value)  # noqa: S608
        return workspace_id

    async def wish(self, workspace_id: UUID) -> str:
        wish: str = await self.connection.fetchval("SELECT desired_state FROM workspaces WHERE id = $1", workspace_id)
        return wish

    async def sees(self) -> None:
        """The front door speaks, and as far as anybody knows it has never been silent."""
        assert await self.door.flush()
        await ActivityWatch(self.redis, self.keys).look(clock.now())
        await self.redis.hincrbyfloat(self.keys.watch, "since", -AGES)

    async def used(self, workspace_id: UUID, kind: Kind = Kind.EDIT) -> None:
        self.door.record(workspace_id, kind)
        assert await self.door.flush()

    def runner(self) -> TtlRunner:
        hints = Hints(self.redis, f"{self.prefix}:wake")

        async def wake(ids: Sequence[UUID]) -> None:
            await hints.wake(Listener.CONTROLLER, *ids)

        return TtlRunner(
            open_store=lambda _: pytest.fail("it is given its store"),
            watch=ActivityWatch(self.redis, self.keys),
            policy=POLICY,
            wake=wake,
            metrics=fresh(),
            interval_seconds=60,
        )

    @contextlib.asynccontextmanager
    async def store(self, **meanwhile: Meanwhile) -> AsyncIterator[Interrupted]:
        seat = await PostgresSeat.take(self.database_url, "coordinator:ttl", uuid4().hex, lease_seconds=30)
        try:
            yield Interrupted(seat, **meanwhile)
        finally:
            await seat.close()

    async def one_pass(self, **meanwhile: Meanwhile) -> None:
        async with self.store(**meanwhile) as store:
            await self.runner().make_pass(store)


@contextlib.asynccontextmanager
async def town_on(database_url: str, redis_url: str, prefix: str) -> AsyncIterator[Town]:
    connection = await asyncpg.connect(database_url)
    await connection.execute("INSERT INTO users (id, login, password_hash) VALUES ($1, 'ann', '')", OWNER)
    try:
        async with contextlib.aclosing(connect(redis_url)) as redis:
            yield Town(redis, prefix, database_url, connection)
    finally:
        await connection.close()


@pytest.fixture
async def town(database_url: str, redis_url: str, redis_prefix: Callable[[], str]) -> AsyncIterator[Town]:
    async with town_on(database_url, redis_url, redis_prefix()) as town:
        yield town


@pytest.fixture
async def own(database_url: str, services_folder: Path, account: Account) -> AsyncIterator[tuple[OwnService, Town]]:
    """On a Redis that may be stopped."""
    async with own_redis(services_folder, account) as (server, url), town_on(database_url, url, "own") as town:
        yield server, town


class TestIdle:
    async def test_who_was_seen_to_do_nothing_is_put_to_sleep(self, town: Town) -> None:
        idle, used = await town.workspace(), await town.workspace()
        await town.sees()
        await town.used(used)
        await town.one_pass()
        assert [await town.wish(each) for each in (idle, used)] == ["STANDBY", "RUNNING"]

    async def test_who_was_stopped_for_long_moves_to_the_archive(self, town: Town) -> None:
        stopped = await town.workspace("STANDBY")
        await town.one_pass()
        assert await town.wish(stopped) == "ARCHIVED"

    async def test_there_may_be_more_of_them_than_one_statement_writes(self, town: Town) -> None:
        await town.connection.execute(
            """INSERT INTO workspaces (id, owner_user_id, name, phase, desired_state, phase_changed_at)
               SELECT gen_random_uuid(), $1, n::text, 'RUNNING', 'RUNNING', now() - interval '1 day'
               FROM generate_series(1, $2::integer) AS n""",
            *(OWNER, BATCH + 1),
        )
        await town.sees()
        await town.one_pass()
        assert await town.connection.fetchval("SELECT count(*) FROM workspaces WHERE desired_state = 'RUNNING'") == 0

    async def test_the_coordinators_are_told_of_it(self, town: Town) -> None:
        idle = await town.workspace()
        await town.sees()
        async with listening(town.redis, town.prefix) as ear:
            await town.one_pass()
            [said] = await ear.until_on("wake:wc")
        assert said.text == str(idle)

    async def test_it_is_counted(self, town: Town) -> None:
        await town.workspace()
        await town.sees()
        runner = town.runner()
        async with town.store() as store:
            await runner.make_pass(store)
        counted = runner.metrics.registry.get_sample_value("codehub_idle_wishes_total", {"wish": "STANDBY"})
        assert counted == 1


class TestNotIdle:
    async def test_who_was_just_woken_stays_though_their_last_access_is_old(self, town: Town) -> None:
        woken = await town.workspace(phase_changed_at=await town.connection.fetchval("SELECT now()"))
        await town.sees()
        await town.one_pass()
        assert await town.wish(woken) == "RUNNING"

    async def test_who_is_held_stays(self, town: Town) -> None:
        end = await town.connection.fetchval("SELECT now() + interval '1 hour'")
        held, let_go = await town.workspace(held_until=end), await town.workspace(held_until=end - timedelta(hours=2))
        await town.sees()
        await town.one_pass()
        assert [await town.wish(each) for each in (held, let_go)] == ["RUNNING", "STANDBY"]

    async def test_who_comes_back_while_they_are_found_idle_stays(self, town: Town) -> None:
        returning = await town.workspace()
        await town.sees()
        await town.one_pass(may_stand_by=lambda: town.used(returning))
        assert await town.wish(returning) == "RUNNING"

    async def test_what_is_told_between_reading_and_forgetting_is_brought_in_by_the_next_pass(self, town: Town) -> None:
        busy = await town.workspace()
        await town.sees()
        await town.used(busy, Kind.EDIT)
        await town.one_pass(bring_in=lambda: town.used(busy, Kind.TERMINAL_OUTPUT))
        await town.one_pass()
        assert await town.connection.fetchval("SELECT last_activity FROM workspaces") == "terminal_output"
        assert await town.wish(busy) == "RUNNING"
        assert not (await ActivityWatch(town.redis, town.keys).look(clock.now())).signs


class TestBlind:
    async def test_without_a_front_door_nobody_is_put_to_sleep(self, town: Town) -> None:
        running, stopped = await town.workspace(), await town.workspace("STANDBY")
        await town.one_pass()
        assert [await town.wish(each) for each in (running, stopped)] == ["RUNNING", "ARCHIVED"]

    async def test_the_first_front_door_gives_everybody_all_of_their_idle_time(self, town: Town) -> None:
        running = await town.workspace()
        assert await town.door.flush()
        await town.one_pass()
        assert await town.wish(running) == "RUNNING"
        await town.redis.hincrbyfloat(town.keys.watch, "since", -600 - 30 - 1)
        await town.one_pass()
        assert await town.wish(running) == "STANDBY"

    async def test_while_a_front_door_is_silent_nobody_is_put_to_sleep(self, town: Town) -> None:
        idle = await town.workspace()
        await town.sees()
        await town.redis.zincrby(town.keys.told[2], -61, "door")
        await town.one_pass()
        assert await town.wish(idle) == "RUNNING"
        assert await town.door.flush()
        await town.one_pass()
        assert await town.wish(idle) == "STANDBY"

    async def test_a_front_door_that_falls_silent_during_the_pass_counts(self, town: Town) -> None:
        idle = await town.workspace()
        await town.sees()
        await town.one_pass(may_stand_by=lambda: town.redis.zincrby(town.keys.told[2], -61, "door"))
        assert await town.wish(idle) == "RUNNING"

    async def test_while_redis_is_away_nobody_is_put_to_sleep(self, own: tuple[OwnService, Town]) -> None:
        server, town = own
        idle, stopped = await town.workspace(), await town.workspace("STANDBY")
        await town.sees()
        await server.stop()
        await town.one_pass()
        assert [await town.wish(each) for each in (idle, stopped)] == ["RUNNING", "STANDBY"]

    async def test_redis_that_goes_during_the_pass_puts_nobody_to_sleep(self, own: tuple[OwnService, Town]) -> None:
        server, town = own
        idle = await town.workspace()
        await town.sees()
        await town.one_pass(may_stand_by=server.stop)
        assert await town.wish(idle) == "RUNNING"

    async def test_when_redis_is_back_everybody_has_all_of_their_idle_time(self, own: tuple[OwnService, Town]) -> None:
        server, town = own
        idle = await town.workspace()
        await town.sees()
        await server.stop()
        await server.start()
        assert await town.door.flush()
        await town.one_pass()
        assert await town.wish(idle) == "RUNNING"
        await town.sees()
        await town.one_pass()
        assert await town.wish(idle) == "STANDBY"

    async def test_when_redis_was_emptied_everybody_has_all_of_their_idle_time(
        self, own: tuple[OwnService, Town]
    ) -> None:
        _, town = own
        idle = await town.workspace()
        await town.sees()
        await town.redis.flushall()
        await town.one_pass()
        assert await town.door.flush()
        await town.one_pass()
        assert await town.wish(idle) == "RUNNING"
        await town.sees()
        await town.one_pass()
        assert await town.wish(idle) == "STANDBY"

    async def test_who_works_while_redis_is_away_is_known_to_have_worked(self, own: tuple[OwnService, Town]) -> None:
        server, town = own
        busy = await town.workspace()
        await town.sees()
        await server.stop()
        town.door.record(busy, Kind.TERMINAL_INPUT)
        assert not await town.door.flush()
        await server.start()
        await town.sees()
        await town.one_pass()
        assert await town.wish(busy) == "RUNNING"


class TestSeveralRunners:
    async def test_two_at_once_put_each_workspace_to_sleep_once(self, town: Town) -> None:
        idle = [await town.workspace() for _ in range(20)]
        await town.sees()
        await asyncio.gather(town.one_pass(), town.one_pass())
        await town.one_pass()
        assert {await town.wish(each) for each in idle} == {"STANDBY"}
        assert await town.connection.fetchval("SELECT count(*) FROM workspace_events") == len(idle)

    async def test_one_that_lost_its_seat_meanwhile_writes_nothing_and_its_successor_does(self, town: Town) -> None:
        idle = await town.workspace()
        await town.sees()
        with pytest.raises(SeatLost):
            await town.one_pass(may_stand_by=lambda: kill_all(town.database_url))
        assert await town.wish(idle) == "RUNNING"
        await town.one_pass()
        assert await town.wish(idle) == "STANDBY"

    async def test_one_that_dies_between_storing_and_forgetting_loses_nothing(self, town: Town) -> None:
        busy = await town.workspace()
        await town.sees()
        await town.used(busy)
        with pytest.raises(asyncio.CancelledError):
            await town.one_pass(bring_in=_die)
        assert (await ActivityWatch(town.redis, town.keys).look(clock.now())).signs
        await town.one_pass()
        assert not (await ActivityWatch(town.redis, town.keys).look(clock.now())).signs
        assert await town.wish(busy) == "RUNNING"

    async def test_one_that_was_paused_takes_away_nothing_that_its_successor_has_not_stored(self, town: Town) -> None:
        busy = await town.workspace()
        await town.sees()
        await town.used(busy)

        async def successor() -> None:
            await town.one_pass()
            await town.used(busy, Kind.SAVE)

        await town.one_pass(bring_in=successor)
        await town.one_pass()
        assert await town.connection.fetchval("SELECT last_activity FROM workspaces") == "save"


async def _die() -> None:
    raise asyncio.CancelledError


async def test_a_running_workspace_that_nobody_uses_stands_by_and_goes_to_the_archive(house: House) -> None:
    house.idle_policy = IdlePolicy(1, 1, flush_interval=timedelta(seconds=0.2))
    house.replica(ttl_interval=0.2)
    workspace_id = await house.create()
    await house.until_phase(workspace_id, Phase.RUNNING)
    async with Activity(house.redis, Keys(f"{house.prefix}:activity"), "door", 0.1).running():
        await house.until_phase(workspace_id, Phase.STANDBY)

        async def is_wished() -> bool | None:
            return ("wish", "STANDBY", "ARCHIVED", "idle") in await house.events(workspace_id) or None

        await until(is_wished, 30)
    assert ("wish", "RUNNING", "STANDBY", "idle") in await house.events(workspace_id)
