"""Where workspaces are reached, as last read from the database. One that runs is kept and looked at again and again; of
one that does not, each question is asked anew, so that nobody is sent away from a workspace that has woken."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from codehub.clock import elapsed
from codehub.decide import route as decided
from codehub.decide.route import Visit
from codehub.proxy.doorkeeper import Upstream
from codehub.store.reads import Reads
from codehub.store.routes import Routed, routes_of

UNUSED_SECONDS = 60.0
DOUBT_SECONDS = 1.0
"""For so long nobody is sent to where nobody has just answered."""


@dataclass(slots=True)
class Route:
    routed: Routed
    upstream: Upstream | None
    """None where it cannot be reached at the moment."""
    used_at: float
    doubted_until: float = 0.0

    @property
    def is_doubted(self) -> bool:
        return elapsed() < self.doubted_until


class Routes:
    def __init__(self, reads: Reads) -> None:
        self._reads = reads
        self._kept: dict[UUID, Route] = {}
        self._asking: dict[UUID, asyncio.Task[Route | None]] = {}

    def running(self, workspace_id: UUID, now: float) -> Route | None:
        """One that is known to run. Never waits."""
        found = self._kept.get(workspace_id)
        if found is None or found.upstream is None or found.is_doubted:
            return None
        found.used_at = now
        return found

    async def find_out(self, workspace_id: UUID) -> Route | None:
        """As the database has it now; None where there is no such workspace. Raises what the database does."""
        return await asyncio.shield(self._asking.get(workspace_id) or self._ask(workspace_id))

    def doubt(self, upstream: Upstream) -> None:
        """Nobody answers there."""
        for each in self._kept.values():
            if each.upstream is upstream:
                each.doubted_until = elapsed() + DOUBT_SECONDS

    async def look_again(self, also: Collection[UUID]) -> None:
        """Read all that are kept, and these, and forget those that nobody has asked for in a while."""
        now = elapsed()
        for workspace_id in [each for each, route in self._kept.items() if now - route.used_at > UNUSED_SECONDS]:
            if workspace_id not in also:
                self._forget(workspace_id)
        wanted = {*self._kept, *also}
        if wanted:
            found = await routes_of(self._reads, wanted)
            for workspace_id in wanted:
                self._note(workspace_id, found.get(workspace_id))

    def leads_to(self, workspace_id: UUID, upstream: Upstream) -> bool:
        """Whether this is where the workspace is reached now."""
        found = self._kept.get(workspace_id)
        return found is not None and found.upstream is upstream

    def _ask(self, workspace_id: UUID) -> asyncio.Task[Route | None]:
        asking = asyncio.create_task(self._find_out(workspace_id), name="where is this")
        self._asking[workspace_id] = asking
        return asking

    async def _find_out(self, workspace_id: UUID) -> Route | None:
        try:
            found = await routes_of(self._reads, [workspace_id])
        finally:
            self._asking.pop(workspace_id, None)
        return self._note(workspace_id, found.get(workspace_id))

    def _note(self, workspace_id: UUID, routed: Routed | None) -> Route | None:
        before = self._kept.get(workspace_id)
        if routed is None:
            self._forget(workspace_id)
            return None
        answer = decided.route(routed.workspace, Visit.OTHER, limit_reached=False)
        if not isinstance(answer, decided.Forward):
            self._forget(workspace_id)
            return Route(routed, None, elapsed())
        if before is not None and before.upstream is not None and before.upstream.endpoint == answer.endpoint:
            before.routed = routed
            return before
        self._forget(workspace_id)
        route = self._kept[workspace_id] = Route(routed, Upstream(answer.endpoint), elapsed())
        return route

    def _forget(self, workspace_id: UUID) -> None:
        gone = self._kept.pop(workspace_id, None)
        if gone is not None and gone.upstream is not None:
            gone.upstream.is_over = True
