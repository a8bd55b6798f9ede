"""What running workspaces used in the last hour, kept in Redis only: it is shown, and nothing is decided by it."""

import math
from collections.abc import Awaitable, Sequence
from dataclasses import astuple, fields
from datetime import UTC, datetime
from typing import cast
from uuid import UUID

import orjson
from redis.asyncio import Redis

from codehub.bus.briefly import Briefly
from codehub.model.usage import Sample

KEPT_SECONDS = 3600
"""What a chart shows."""
RECENT_SAMPLES = 4
"""After so many that did not come, the newest one says nothing about now."""
WRITE_SECONDS = 2.0


class Usage:
    """`every_seconds` is how often each workspace is looked at."""

    def __init__(self, redis: Redis, prefix: str, every_seconds: float) -> None:
        self._redis = redis
        self._prefix = prefix
        self._every_seconds = every_seconds
        self._reads = Briefly("usage")
        self._writes = Briefly("usage samples", WRITE_SECONDS)

    async def write(self, workspace_id: UUID, sample: Sample) -> None:
        """Add it to the others. While Redis is away it is lost."""
        packed = _packed(sample)
        series, newest = self._series(workspace_id), self._newest(workspace_id)
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.rpush(series, packed)
        pipeline.ltrim(series, -math.ceil(KEPT_SECONDS / self._every_seconds), -1)
        pipeline.expire(series, KEPT_SECONDS)
        pipeline.set(newest, packed, px=math.ceil(RECENT_SAMPLES * self._every_seconds * 1000))
        await self._writes.ask(pipeline.execute)

    async def latest(self, workspace_ids: Sequence[UUID]) -> dict[UUID, Sample]:
        """What these use now, in one question; those of which that is not known are left out."""
        if not workspace_ids:
            return {}
        found = await self._reads.ask(lambda: self._redis.mget([self._newest(each) for each in workspace_ids]))
        known = zip(workspace_ids, found or [None] * len(workspace_ids), strict=True)
        samples = {workspace_id: _sample(packed) for workspace_id, packed in known if packed is not None}
        return {workspace_id: sample for workspace_id, sample in samples.items() if sample is not None}

    async def series(self, workspace_id: UUID) -> list[Sample]:
        """The last hour, oldest first; also of one that does not run any more."""
        key = self._series(workspace_id)
        found = await self._reads.ask(lambda: cast("Awaitable[list[bytes]]", self._redis.lrange(key, 0, -1)))
        samples = map(_sample, found or ())
        return [each for each in samples if each is not None]

    def _series(self, workspace_id: UUID) -> str:
        return f"{self._prefix}:{workspace_id}"

    def _newest(self, workspace_id: UUID) -> str:
        return f"{self._prefix}:{workspace_id}:newest"


def _packed(sample: Sample) -> bytes:
    """Without the names, which would be most of it."""
    _, *rest = astuple(sample)
    return orjson.dumps([sample.at.timestamp(), *rest])


def _sample(packed: bytes | str) -> Sample | None:
    """None for one of another release, which has other fields."""
    values = orjson.loads(packed)
    if len(values) != len(fields(Sample)):
        return None
    at, *rest = values
    return Sample(datetime.fromtimestamp(at, UTC), *rest)
