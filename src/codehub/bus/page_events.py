"""Events for people's pages over Redis. A page that missed one reads its state again; none of them is the truth."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from uuid import UUID

import orjson
import structlog
from redis.asyncio import Redis
from redis.asyncio.client import Pipeline
from redis.exceptions import RedisError

from codehub.bus.live_notes import KEPT_SECONDS, LiveNotes, key_of
from codehub.decide.idle import IdlePolicy
from codehub.decide.show import show
from codehub.model.shown import Live, ShownWorkspace

log = structlog.get_logger()

PUBLISH_SECONDS = 0.5
EVERYBODY = "all"


def to_json(shown: object) -> bytes:
    """A document that `show` made; the database's driver has ids of a kind of its own, which are written as others."""
    return orjson.dumps(shown, default=str)


class PageEvent(StrEnum):
    UPDATED = "workspace_updated"
    DELETED = "workspace_deleted"
    PROGRESS = "workspace_progress"
    RESYNC = "resync"


class PageEvents:
    """A message is the name of the event, a line's end, and its data as JSON: whoever passes it on reads no JSON."""

    def __init__(self, redis: Redis, prefix: str, idle_policy: IdlePolicy) -> None:
        self._redis = redis
        self._prefix = prefix
        self._idle_policy = idle_policy
        self._notes = LiveNotes(redis, prefix)
        self.something_was_lost = False
        """Whether a page may show what is no longer so: until a resync has been said."""

    async def updated(self, workspaces: Sequence[ShownWorkspace]) -> None:
        """Each to its owner, whole, as the API shows it."""
        live = await self._notes.about(workspaces)
        saying = self._redis.pipeline(transaction=False)
        for each in workspaces:
            shown = show(each, live.get(each.id), self._idle_policy)
            saying.publish(*self._said(each.owner_user_id, PageEvent.UPDATED, shown))
        await self._say(saying)

    async def deleted(self, owner_user_id: UUID, workspace_id: UUID) -> None:
        saying = self._redis.pipeline(transaction=False)
        saying.publish(*self._said(owner_user_id, PageEvent.DELETED, {"id": workspace_id}))
        await self._say(saying)

    async def progress(self, owner_user_id: UUID, workspace_id: UUID, live: Live) -> None:
        """Said, and kept for a moment for those who come later."""
        saying = self._redis.pipeline(transaction=False)
        saying.set(key_of(self._prefix, workspace_id), to_json(live), ex=KEPT_SECONDS)
        data = {"id": workspace_id, **asdict(live)}
        saying.publish(*self._said(owner_user_id, PageEvent.PROGRESS, data))
        await self._say(saying, matters=False)

    async def resync(self) -> None:
        """To everybody: something may have been missed."""
        saying = self._redis.pipeline(transaction=False)
        saying.publish(*self._said(EVERYBODY, PageEvent.RESYNC, {}))
        self.something_was_lost = False
        await self._say(saying)

    def _said(self, to: UUID | str, event: PageEvent, data: dict[str, object]) -> tuple[str, bytes]:
        return f"{self._prefix}:{to}", b"%b\n%b" % (event.encode(), to_json(data))

    async def _say(self, saying: Pipeline, *, matters: bool = True) -> None:
        try:
            async with asyncio.timeout(PUBLISH_SECONDS):
                await saying.execute()
        except (RedisError, OSError) as error:
            log.debug("page events lost", error=repr(error))
            self.something_was_lost = self.something_was_lost or matters
