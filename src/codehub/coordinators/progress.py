"""How far a long act has come, told to pages twice a second at most. Worth nothing later, so never in the database."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from codehub.model.workspace import Workspace
from codehub.runtimes.protocols import PullProgress

FLUSH_SECONDS = 0.5


class Progress:
    def __init__(self, publish: Callable[[UUID, dict[str, Any]], Awaitable[None]]) -> None:
        self._publish = publish
        self._newest: dict[UUID, tuple[UUID, dict[str, Any]]] = {}

    def pulled(self, workspace: Workspace, pull: PullProgress) -> None:
        data = {"id": workspace.id, "stage": "pull", "bytes": pull.done_bytes, "total": pull.total_bytes}
        self._newest[workspace.id] = workspace.owner_user_id, data

    async def flush_for_ever(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            newest, self._newest = self._newest, {}
            for owner_user_id, data in newest.values():
                await self._publish(owner_user_id, data)
