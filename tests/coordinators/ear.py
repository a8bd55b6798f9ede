"""Hears everything that an installation says over Redis."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from redis.asyncio import Redis

from tests.coordinators.house import until


@dataclass(frozen=True)
class Said:
    channel: str
    """Without the installation's prefix."""
    text: str

    @property
    def event(self) -> str:
        return self.text.partition("\n")[0]

    @property
    def data(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.text.partition("\n")[2])
        return data


@dataclass
class Ear:
    heard: list[Said] = field(default_factory=list)

    def on(self, channel: str) -> list[Said]:
        return [said for said in self.heard if said.channel == channel]

    async def until_on(self, channel: str, times: int = 1) -> list[Said]:
        async def enough() -> list[Said] | None:
            return said if len(said := self.on(channel)) >= times else None

        return await until(enough, 30)


@asynccontextmanager
async def listening(redis: Redis, prefix: str) -> AsyncIterator[Ear]:
    ear = Ear()
    async with redis.pubsub(ignore_subscribe_messages=True) as pubsub:
        await pubsub.psubscribe(f"{prefix}:*")

        async def listen() -> None:
            async for message in pubsub.listen():
                ear.heard.append(Said(message["channel"].decode()[len(prefix) + 1 :], message["data"].decode()))

        task = asyncio.create_task(listen())
        try:
            yield ear
        finally:
            task.cancel()
            await asyncio.wait([task])
