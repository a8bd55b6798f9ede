"""One round of the collector: what is there, what protects it, and what may go."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Protocol
from uuid import UUID

import structlog

from codehub.archives.errors import StoreError
from codehub.coordinators.surroundings import Surroundings
from codehub.decide.orphans import (
    CollectPolicy,
    Found,
    Generation,
    Ground,
    Round,
    collect,
    named_archives,
    protection,
)
from codehub.model.workspace import Workspace
from codehub.runtimes.errors import RuntimeFault
from codehub.store.protocols import CollectorStore, Evidence

log = structlog.get_logger()

PAGE = 1000


class Reads(Protocol):
    """What a round reads; who only wants to know what it would do has nothing else."""

    async def now(self) -> datetime: ...
    async def rows(self, after: UUID | None, limit: int) -> Sequence[Workspace]: ...
    async def workspaces(self, ids: Sequence[UUID]) -> Sequence[Workspace]: ...
    async def generations(self, workspace_ids: Sequence[UUID]) -> Sequence[Generation]: ...
    async def noted_orphans(self) -> dict[Found, datetime]: ...


async def decide(around: Surroundings, reads: Reads, policy: CollectPolicy, confirmed: int) -> Round:
    """What a round would do. The rows are read after the listings: whatever is listed was there before."""
    now = await reads.now()
    named = await _named(reads, policy, now)
    unnamed = sorted({each.workspace_id for each in around.found if each.key not in named})
    known = {}
    for start in range(0, len(unnamed), PAGE):
        for row in await reads.workspaces(unnamed[start : start + PAGE]):
            known[row.id] = row
    ground = Ground(known, named, around.whole, around.shared, around.stand_ins)
    noted = await reads.noted_orphans()
    # In a thread: of a store with very many archives it takes longer than a lease should go unrenewed.
    return await asyncio.to_thread(collect, around.found, ground, noted, policy, now, confirmed)


async def _named(reads: Reads, policy: CollectPolicy, now: datetime) -> dict[str, str]:
    """Page by page: of all the rows only what they point to is kept in memory."""
    named: dict[str, str] = {}
    last = None
    while rows := await reads.rows(last, PAGE):
        generations = await reads.generations([row.id for row in rows])
        named |= named_archives(rows, generations, policy, now)
        last = rows[-1].id
    return named


@dataclass
class Taking:
    """Deletes what a round has decided on, one thing after the other."""

    store: CollectorStore
    policy: CollectPolicy
    around: Surroundings
    check: Callable[[], None]
    """Raises unless this process leads."""

    async def take(self, due: Sequence[Found]) -> Counter[str]:
        """How many of each kind are gone. What cannot be removed now stays noted, and the next round tries again."""
        taken: Counter[str] = Counter()
        for found in due:
            why = await self.store.take(found, partial(self._second_look, found))
            if why is not None:
                log.info("kept after a second look", kind=found.kind, key=found.key, why=why)
                await self.store.forget_orphans([found])
                continue
            try:
                await self.around.found[found](self.check)
            except (RuntimeFault, StoreError) as error:
                log.warning("could not be deleted", kind=found.kind, key=found.key, error=str(error))
                continue
            await self.store.forget_orphans([found])
            taken[found.kind] += 1
            log.info("deleted", kind=found.kind, key=found.key, workspace_id=str(found.workspace_id))
        return taken

    def _second_look(self, found: Found, evidence: Evidence) -> str | None:
        named = named_archives(evidence.workspaces, evidence.generations, self.policy, evidence.now)
        rows = {row.id: row for row in evidence.workspaces}
        ground = Ground(rows, named, self.around.whole, self.around.shared, self.around.stand_ins)
        return protection(found, ground, self.policy, evidence.now)
