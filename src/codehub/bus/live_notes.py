"""The newest word about each workspace that is being worked on, kept in Redis for a moment: what a page shows that came
too late to hear it."""

from collections.abc import Iterable
from uuid import UUID

import orjson
from redis.asyncio import Redis

from codehub.bus.briefly import Briefly
from codehub.model.plans import Waiting
from codehub.model.shown import Live, ShownWorkspace
from codehub.model.states import Operation, Phase, Service

KEPT_SECONDS = 60
"""Whoever works on a workspace says so again before this is over."""


def key_of(prefix: str, workspace_id: UUID) -> str:
    return f"{prefix}:progress:{workspace_id}"


class LiveNotes:
    def __init__(self, redis: Redis, prefix: str) -> None:
        self._redis = redis
        self._prefix = prefix
        self._briefly = Briefly("progress")

    async def about(self, workspaces: Iterable[ShownWorkspace]) -> dict[UUID, Live]:
        """What is known of these. Only those are asked about with which something is being done, so that most answers
        cost nothing; and nothing is known while Redis is away."""
        busy = [each.id for each in workspaces if _is_busy(each)]
        if not busy:
            return {}
        found = await self._briefly.ask(lambda: self._redis.mget([key_of(self._prefix, each) for each in busy]))
        notes = zip(busy, found or [None] * len(busy), strict=True)
        return {workspace_id: to_live(note) for workspace_id, note in notes if note is not None}


def _is_busy(workspace: ShownWorkspace) -> bool:
    if workspace.operation is not Operation.NONE:
        return True
    return workspace.phase is not Phase.ERROR and workspace.phase.value != workspace.desired_state.value


def to_live(note: bytes | str) -> Live:
    said = orjson.loads(note)
    return Live(
        stage=said["stage"],
        op_id=UUID(said["op_id"]) if said["op_id"] else None,
        bytes=said["bytes"],
        total=said["total"],
        rate=said["rate"],
        eta=said["eta"],
        waiting=Waiting(said["waiting"]) if said["waiting"] else None,
        service=Service(said["service"]) if said["service"] else None,
        entries=said.get("entries"),  # a leader of the release before does not say it
    )
