"""Who watches all along: that no workspace runs twice, and that nothing of others is touched."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

from codehub.archives.object_store import ObjectStore, read_all
from tests.chaos.engine import Bystander, Engine
from tests.chaos.history import Breached, History

WATCH_SECONDS = 0.5
BYSTANDER_KEY = "another-installation/archive"
BYSTANDER_OBJECT = b"not ours"


@dataclass
class Watch:
    engine: Engine
    history: History
    bystander: Bystander
    tenant: UUID
    """A workspace of somebody who does nothing, and whose container is never another one."""
    store: ObjectStore
    _told: set[str] = field(default_factory=set)

    async def all_along(self) -> None:
        (before,) = await self.engine.running(self.tenant)
        while True:
            for breach in [*await self.engine.doubled(), *await self.bystander.changes()]:
                self.tell(breach)
            if [each.id for each in await self.engine.running(self.tenant)] != [before.id]:
                self.tell("of another tenant: a workspace that nobody touched runs in another container, or in none")
            await asyncio.sleep(WATCH_SECONDS)

    async def in_the_end(self) -> None:
        if await read_all(self.store, BYSTANDER_KEY, limit=100) != BYSTANDER_OBJECT:
            self.tell("of another installation: its archive")

    def tell(self, breach: str) -> None:
        """Once: it would be seen again and again."""
        if breach not in self._told:
            self._told.add(breach)
            self.history.tell(Breached(time.time(), breach))


@asynccontextmanager
async def watched(watch: Watch) -> AsyncIterator[None]:
    await watch.store.put(BYSTANDER_KEY, BYSTANDER_OBJECT)
    watching = asyncio.create_task(watch.all_along())
    try:
        yield
        await watch.in_the_end()
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
