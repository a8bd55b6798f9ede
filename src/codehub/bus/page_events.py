"""Events for people's pages over Redis. A page that missed one reads its state again; none of them is the truth."""

import asyncio
import json
from dataclasses import asdict
from enum import StrEnum
from typing import Any
from uuid import UUID

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from codehub.model.shown import ShownWorkspace

log = structlog.get_logger()

PUBLISH_SECONDS = 0.5


class PageEvent(StrEnum):
    UPDATED = "workspace_updated"
    DELETED = "workspace_deleted"
    PROGRESS = "workspace_progress"
    RESYNC = "resync"


class PageEvents:
    def __init__(self, redis: Redis, prefix: str) -> None:
        self._redis = redis
        self._prefix = prefix

    async def updated(self, workspace: ShownWorkspace) -> None:
        await self._publish(workspace.owner_user_id, PageEvent.UPDATED, asdict(workspace))

    async def deleted(self, owner_user_id: UUID, workspace_id: UUID) -> None:
        await self._publish(owner_user_id, PageEvent.DELETED, {"id": workspace_id})

    async def progress(self, owner_user_id: UUID, progress: dict[str, Any]) -> None:
        await self._publish(owner_user_id, PageEvent.PROGRESS, progress)

    async def resync(self) -> None:
        """To everybody: something may have been missed."""
        await self._publish("all", PageEvent.RESYNC, {})

    async def _publish(self, to: UUID | str, event: PageEvent, data: dict[str, Any]) -> None:
        message = json.dumps({"event": event, "data": data}, default=str)
        try:
            async with asyncio.timeout(PUBLISH_SECONDS):
                await self._redis.publish(f"{self._prefix}:{to}", message)
        except (RedisError, OSError) as error:
            log.debug("page event lost", page_event=event, error=repr(error))
