"""From a front door's memory to Redis and out of it: nothing that was seen is lost, or told as older than it is."""

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import cast
from uuid import UUID, uuid4

import pytest
from redis.asyncio import Redis

from codehub import clock
from codehub.bus.activity import Activity
from codehub.bus.activity_keys import Keys
from codehub.bus.activity_watch import FORGET_DOOR_SECONDS, ActivityWatch, Sight
from codehub.bus.connect import connect
from codehub.model.activity import Kind, Sign
from codehub.stack.account import Account
from tests.coordinators.house import until
from tests.coordinators.own_service import OwnService, own_redis
from tests.simulation.memory_redis import MemoryRedis

RARELY = 3600.0
WORKSPACE = UUID(int=7)


@dataclass
class Street:
    """Front doors on one Redis, whose clock the test sets, and somebody who reads what they tell."""

    redis: Redis
    prefix: str
    moment: float = 1000.0
    keys: Keys = field(init=False)
    watch: ActivityWatch = field(init=False)

    def __post_init__(self) -> None:
        self.keys = Keys(self.prefix)
        self.watch = ActivityWatch(self.redis, self.keys)

    def door(self, name: str = "door", every: float = RARELY) -> Activity:
        return Activity(self.redis, self.keys, name, every, lambda: self.moment)

    async def look(self, database_ahead: float = 0) -> Sight:
        return await self.watch.look(clock.now() + timedelta(seconds=database_ahead))

    async def signs(self) -> dict[UUID, tuple[float, Kind | None]]:
        """Of each workspace how long ago it was used, to ten seconds, and by what."""
        return {each.workspace_id: (round(each.seconds_ago, -1), each.kind) for each in (await self.look()).signs}

    async def sign(self) -> Sign:
        [sign] = (await self.look()).signs
        return sign


@pytest.fixture(params=["redis", "twin"])
async def street(
    request: pytest.FixtureRequest, redis_url: str, redis_prefix: Callable[[], str]
) -> AsyncIterator[Street]:
    if request.param == "twin":
        yield Street(cast("Redis", MemoryRedis(clock.elapsed)), "street")
        return
    async with contextlib.aclosing(connect(redis_url)) as redis:
        yield Street(redis, redis_prefix())


@pytest.fixture
async def own(services_folder: Path, account: Account) -> AsyncIterator[tuple[OwnService, Street]]:
    """On a Redis that may be stopped."""
    async with own_redis(services_folder, account) as (server, url), contextlib.aclosing(connect(url)) as redis:
        yield server, Street(redis, "own")


class TestTelling:
    async def test_of_each_workspace_the_newest_is_told_and_how_long_ago_it_was(self, street: Street) -> None:
        door, other = street.door(), uuid4()
        door.record(WORKSPACE, Kind.TERMINAL_INPUT)
        door.record(other, Kind.SAVE)
        street.moment += 30
        door.record(WORKSPACE, Kind.EDIT)
        street.moment += 60
        assert await door.flush()
        assert await street.signs() == {WORKSPACE: (60, Kind.EDIT), other: (90, Kind.SAVE)}

    async def test_what_another_front_door_tells_late_does_not_hide_what_is_newer(self, street: Street) -> None:
        early, late = street.door("early"), street.door("late")
        late.record(WORKSPACE, Kind.TERMINAL_OUTPUT)
        street.moment += 100
        early.record(WORKSPACE, Kind.EDIT)
        await early.flush()
        street.moment += 50
        await late.flush()
        assert (await street.sign()).kind is Kind.EDIT
        assert (await street.sign()).seconds_ago < 10

    async def test_the_first_sign_of_life_after_a_quiet_while_is_told_at_once(self, street: Street) -> None:
        door = street.door()
        async with door.running():
            door.record(WORKSPACE, Kind.EDIT)

            async def told() -> bool | None:
                return WORKSPACE in await street.signs() or None

            await until(told, 30)

    async def test_what_comes_within_the_interval_waits_for_its_end(self, street: Street) -> None:
        door = street.door()
        door.record(WORKSPACE, Kind.EDIT)
        assert door._woken.is_set()
        await door.flush()
        door.record(WORKSPACE, Kind.SAVE)
        assert not door._woken.is_set()

    async def test_at_the_end_all_is_told_and_the_front_door_is_waited_for_no_longer(self, street: Street) -> None:
        door = street.door()
        async with door.running():
            await door.flush()
            assert (await street.look()).doors is not None
            door.record(WORKSPACE, Kind.EDIT)
        sight = await street.look()
        assert [each.workspace_id for each in sight.signs] == [WORKSPACE]
        assert sight.doors is None

    async def test_what_could_not_be_told_is_kept_and_told_with_its_true_age(
        self, own: tuple[OwnService, Street]
    ) -> None:
        server, street = own
        door, other = street.door(), uuid4()
        await server.stop()
        door.record(WORKSPACE, Kind.EDIT)
        door.record(other, Kind.EDIT)
        assert not await door.flush()
        street.moment += 100
        door.record(other, Kind.SAVE)
        assert not await door.flush()
        street.moment += 100
        await server.start()
        assert await door.flush()
        assert await street.signs() == {WORKSPACE: (200, Kind.EDIT), other: (100, Kind.SAVE)}

    async def test_it_goes_on_by_itself_when_redis_is_back(self, own: tuple[OwnService, Street]) -> None:
        server, street = own
        await server.stop()
        door = street.door()
        async with door.running():
            door.record(WORKSPACE, Kind.EDIT)

            async def has_failed() -> bool | None:
                return door._fails or None

            await until(has_failed, 30)
            await server.start()

            async def told() -> bool | None:
                return WORKSPACE in await street.signs() or None

            await until(told, 30)


class TestTakingAway:
    async def test_what_was_stored_is_forgotten(self, street: Street) -> None:
        door = street.door()
        door.record(WORKSPACE, Kind.EDIT)
        await door.flush()
        await street.watch.forget([await street.sign()])
        assert await street.signs() == {}
        assert not await street.redis.exists(*street.keys.told[:2])

    async def test_what_was_told_between_reading_and_forgetting_stays(self, street: Street) -> None:
        door = street.door()
        door.record(WORKSPACE, Kind.EDIT)
        await door.flush()
        read = await street.sign()
        street.moment += 1
        door.record(WORKSPACE, Kind.SAVE)
        await door.flush()
        await street.watch.forget([read])
        assert (await street.sign()).kind is Kind.SAVE

    async def test_a_word_of_a_later_release_is_a_sign_of_life_all_the_same(self, street: Street) -> None:
        await street.redis.zadd(street.keys.told[0], {str(WORKSPACE): 1.0})
        await street.redis.hset(street.keys.told[1], str(WORKSPACE), "telepathy")
        assert (await street.sign()).kind is None


class TestWatching:
    async def test_without_a_front_door_nobody_is_seen(self, street: Street) -> None:
        assert (await street.look()).doors is None

    async def test_all_is_known_up_to_where_the_most_silent_front_door_has_spoken(self, street: Street) -> None:
        for name in ("one", "other"):
            await street.door(name).flush()
        await street.redis.zincrby(street.keys.told[2], -500, "one")
        doors = (await street.look()).doors
        assert doors is not None
        assert (doors.most_silent, round(doors.silent_for_seconds, -1)) == ("one", 500)

    async def test_a_successor_of_the_same_name_speaks_for_one_that_died(self, street: Street) -> None:
        await street.door().flush()
        await street.redis.zincrby(street.keys.told[2], -500, "door")
        await street.door().flush()
        doors = (await street.look()).doors
        assert doors is not None
        assert doors.silent_for_seconds < 100

    async def test_one_that_leaves_does_not_take_its_successor_along(self, street: Street) -> None:
        before, successor = street.door(), street.door()
        await before.flush()
        await successor.flush()
        await before.flush()
        await before.flush(leaving=True)
        assert (await street.look()).doors is not None
        await successor.flush(leaving=True)
        assert (await street.look()).doors is None

    async def test_one_that_never_speaks_again_is_forgotten_in_the_end(self, street: Street) -> None:
        for name in ("dead", "alive"):
            await street.door(name).flush()
        await street.redis.zincrby(street.keys.told[2], -FORGET_DOOR_SECONDS - 1, "dead")
        doors = (await street.look()).doors
        assert doors is not None
        assert doors.most_silent == "alive"

    async def test_the_watch_goes_on_from_look_to_look(self, street: Street) -> None:
        await street.door().flush()
        await street.look()
        await street.redis.hincrbyfloat(street.keys.watch, "since", -500)
        doors = (await street.look()).doors
        assert doors is not None
        assert round(doors.watched_for_seconds, -1) == 500

    @pytest.mark.parametrize("seconds", [-3600, 3600])
    async def test_it_begins_anew_when_the_databases_clock_was_set(self, street: Street, seconds: float) -> None:
        await street.door().flush()
        await street.look(database_ahead=1000)
        await street.redis.hincrbyfloat(street.keys.watch, "since", -500)
        for ahead, watched in ((1001, 500), (1001 + seconds, 0), (1002 + seconds, 0)):
            doors = (await street.look(ahead)).doors
            assert doors is not None
            assert round(doors.watched_for_seconds, -2) == watched

    async def test_it_begins_anew_when_redis_was_emptied(self, street: Street) -> None:
        await street.door().flush()
        await street.look()
        await street.redis.hincrbyfloat(street.keys.watch, "since", -500)
        await street.redis.delete(street.keys.watch, *street.keys.told)
        await street.door().flush()
        doors = (await street.look()).doors
        assert doors is not None
        assert doors.watched_for_seconds < 100

    async def test_it_begins_anew_when_redis_has_started_anew_though_nothing_seems_lost(
        self, own: tuple[OwnService, Street]
    ) -> None:
        server, street = own
        await street.door().flush()
        await street.look()
        await street.redis.hincrbyfloat(street.keys.watch, "since", -500)
        await server.stop()
        await server.start()
        assert await street.redis.hexists(street.keys.watch, "since")
        doors = (await street.look()).doors
        assert doors is not None
        assert doors.watched_for_seconds < 100

    async def test_it_begins_anew_when_there_was_no_front_door_for_a_while(self, street: Street) -> None:
        door = street.door()
        await door.flush()
        await street.look()
        await street.redis.hincrbyfloat(street.keys.watch, "since", -500)
        await door.flush(leaving=True)
        await street.look()
        await door.flush()
        doors = (await street.look()).doors
        assert doors is not None
        assert doors.watched_for_seconds < 100
