"""Homes that somebody removes, told from the engine's events of all volumes.

Those carry no labels, and a volume that is gone cannot be asked for its own: whose it was must be known before."""

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from uuid import UUID

from codehub.model.workspace import workspace_of
from codehub.runtimes.docker.volumes import DockerVolumes
from codehub.runtimes.errors import NotFound


class HomesRemoved:
    def __init__(self, volumes: DockerVolumes) -> None:
        self._volumes = volumes
        self._ours: set[str] = set()
        self._learned_at = 0.0

    async def learn(self) -> None:
        """Which homes there are, when the events have begun to come."""
        self._ours = {volume.name for volume in await self._volumes.list()}
        self._learned_at = time.time()

    async def hear(self, event: Mapping[str, Any]) -> UUID | None:
        """Whose home has just been removed. Of one that went before they were known, nobody can say any more whether
        it was ours: then it is told, for a look at somebody else's workspace finds nothing and does no harm."""
        name: str = event["Actor"]["ID"]
        if event["Action"] == "create":
            with suppress(NotFound):
                await self._volumes.require(name)
                self._ours.add(name)
        elif event["Action"] == "destroy" and (name in self._ours or event["timeNano"] / 1e9 < self._learned_at):
            self._ours.discard(name)
            return workspace_of(name)
        return None
