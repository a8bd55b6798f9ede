"""Events for people's pages over Redis. A page that missed one reads its state again; none of them is the truth."""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import asdict
from enum import StrEnum
from uuid import UUID

import orjson
import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from codehub.bus.live_notes import KEPT_SECONDS, LiveNotes, key_of
from codehub.decide.idle import IdlePolicy
from codehub.decide.show import show
from codehub.model.shown import Live, ShownWorkspace

log = structlog.get_logger()

PUBLISH_SECONDS = 0.5
EVERYBODY = "all"

# Pages believe what they hear last: that must not be what a leader says late, who was deposed on the way.
SAY = """
if ARGV[2] == 'fenced' and tonumber(redis.call('GET', KEYS[1]) or ARGV[1]) > tonumber(ARGV[1]) then
    return
end
redis.call('SET', KEYS[1], ARGV[1])
for i = 3, #ARGV, 2 do
    redis.call('PUBLISH', ARGV[i], ARGV[i + 1])
end
"""


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
        self.epoch = 0
        """Of the term in which changes are told."""
        self.something_was_lost = False
        """Whether a page may show what is no longer so: until a resync has been said."""

    async def updated(self, workspaces: Sequence[ShownWorkspace]) -> None:
        """Each to its owner, whole, as the API shows it."""
        live = await self._notes.about(workspaces)
        documents = [(each.owner_user_id, show(each, live.get(each.id), self._idle_policy)) for each in workspaces]
        await self._tell(*(self._said(owner, PageEvent.UPDATED, shown) for owner, shown in documents))

    async def deleted(self, owner_user_id: UUID, workspace_id: UUID) -> None:
        await self._tell(self._said(owner_user_id, PageEvent.DELETED, {"id": workspace_id}))

    async def progress(self, owner_user_id: UUID, workspace_id: UUID, live: Live) -> None:
        """Said, and kept for a moment for those who come later."""
        saying = self._redis.pipeline(transaction=False)
        saying.set(key_of(self._prefix, workspace_id), to_json(live), ex=KEPT_SECONDS)
        data = {"id": workspace_id, **asdict(live)}
        saying.publish(*self._said(owner_user_id, PageEvent.PROGRESS, data))
        await self._is_done(saying.execute())

    async def resync(self) -> None:
        """To everybody: something may have been missed. Right whoever says it and whenever, also where epochs are lower
        than before because the database is an older backup."""
        self.something_was_lost = False
        await self._tell(self._said(EVERYBODY, PageEvent.RESYNC, {}), fenced=False)

    def _said(self, to: UUID | str, event: PageEvent, data: dict[str, object]) -> tuple[str, bytes]:
        return f"{self._prefix}:{to}", b"%b\n%b" % (event.encode(), to_json(data))

    async def _tell(self, *said: tuple[str, bytes], fenced: bool = True) -> None:
        """In one step. What is fenced is not said once somebody of a later term has spoken."""
        words = [word for channel, message in said for word in (channel, message)]
        telling = self._redis.eval(SAY, 1, f"{self._prefix}:epoch", self.epoch, "fenced" if fenced else "", *words)
        if not await self._is_done(telling):
            self.something_was_lost = True

    async def _is_done(self, telling: Awaitable[object]) -> bool:
        try:
            async with asyncio.timeout(PUBLISH_SECONDS):
                await telling
        except (RedisError, OSError) as error:
            log.debug("page events lost", error=repr(error))
            return False
        return True
