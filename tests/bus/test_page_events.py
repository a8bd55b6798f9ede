"""Pages believe what they hear last, so that must not be what somebody says late who no longer leads."""

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import cast
from uuid import UUID, uuid4

import pytest
from redis.asyncio import Redis

from codehub import clock
from codehub.bus.connect import connect
from codehub.bus.page_events import PageEvents
from tests.coordinators.ear import Ear, Said, listening
from tests.coordinators.house import IDLE_POLICY
from tests.simulation.memory_redis import MemoryRedis

OWNER, SOMEBODY_ELSE = UUID(int=1), UUID(int=2)


@dataclass
class Channel:
    redis: Redis
    prefix: str
    ear: Ear

    def leader(self, epoch: int) -> PageEvents:
        pages = PageEvents(self.redis, self.prefix, IDLE_POLICY)
        pages.epoch = epoch
        return pages

    async def heard(self) -> list[str]:
        """Which events, in their order, up to now."""
        await self.leader(100).deleted(SOMEBODY_ELSE, uuid4())
        await self.ear.until_on(str(SOMEBODY_ELSE))
        return [said.event for said in self.ear.heard if said.channel != str(SOMEBODY_ELSE)]


@pytest.fixture(params=["redis", "twin"])
async def channel(
    request: pytest.FixtureRequest, redis_url: str, redis_prefix: Callable[[], str]
) -> AsyncIterator[Channel]:
    if request.param == "twin":
        ear, twin = Ear(), MemoryRedis(clock.elapsed)
        twin.subscribers.append(
            lambda channel, message: ear.heard.append(Said(channel.removeprefix("pages:"), message.decode()))
        )
        yield Channel(cast("Redis", twin), "pages", ear)
        return
    prefix = redis_prefix()
    async with contextlib.aclosing(connect(redis_url)) as redis, listening(redis, prefix) as ear:
        yield Channel(redis, prefix, ear)


async def test_what_a_leader_of_an_earlier_term_says_late_is_heard_by_nobody(channel: Channel) -> None:
    deposed, leader = channel.leader(3), channel.leader(4)
    await deposed.deleted(OWNER, uuid4())
    await leader.resync()
    await leader.deleted(OWNER, uuid4())
    await deposed.deleted(OWNER, uuid4())
    assert await channel.heard() == ["workspace_deleted", "resync", "workspace_deleted"]
    assert not deposed.something_was_lost


async def test_whoever_begins_is_heard_though_others_had_led_later_terms(channel: Channel) -> None:
    await channel.leader(9).deleted(OWNER, uuid4())
    restored = channel.leader(2)
    await restored.resync()
    await restored.deleted(OWNER, uuid4())
    assert await channel.heard() == ["workspace_deleted", "resync", "workspace_deleted"]
