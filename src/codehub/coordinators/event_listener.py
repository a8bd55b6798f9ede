"""The EventListener turns changes of rows into hints for the coordinators and events for the pages."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from codehub.bus.hints import Hints, Listener
from codehub.bus.page_events import PageEvents
from codehub.coordinators.leadership import Leadership
from codehub.coordinators.supervisor import Report
from codehub.store.protocols import Channel, FeedStore, Notice, Seat

GATHER_SECONDS = 0.005
"""What arrives within this time is read in one query."""
MEND_SECONDS = 1.0
"""How soon after a lost event everybody is told to look for themselves."""


@dataclass
class EventListener:
    open_store: Callable[[Seat], FeedStore]
    hints: Hints
    pages: PageEvents
    name: str = "events"
    lock_name: str = "coordinator:events"

    async def run(self, leadership: Leadership, report: Report) -> None:
        store = self.open_store(leadership.seat)
        heard: asyncio.Queue[Notice] = asyncio.Queue()
        await store.listen(heard.put_nowait)
        self.pages.epoch = leadership.term.epoch
        await self._announce_gap()
        while True:
            notices = {await self._next(heard)}
            await asyncio.sleep(GATHER_SECONDS)
            while not heard.empty():
                notices.add(heard.get_nowait())
            leadership.check()
            await self._pass_on(store, notices)
            report.passed()

    async def _announce_gap(self) -> None:
        """Nobody listened until now: let everybody look for themselves."""
        await self.hints.wake(Listener.OBSERVER)
        await self.hints.wake(Listener.CONTROLLER)
        await self.pages.resync()

    async def _next(self, heard: asyncio.Queue[Notice]) -> Notice:
        """What is to be passed on. What was lost before is made up for as soon as that can be."""
        while True:
            try:
                async with asyncio.timeout(MEND_SECONDS if self.pages.something_was_lost else None):
                    return await heard.get()
            except TimeoutError:
                await self.pages.resync()

    async def _pass_on(self, store: FeedStore, notices: set[Notice]) -> None:
        if self.pages.something_was_lost:
            await self.pages.resync()
        woken = [notice.workspace_id for notice in notices if notice.channel is Channel.WAKE]
        if woken:
            await self.hints.wake(Listener.CONTROLLER, *woken)
            await self.hints.wake(Listener.OBSERVER, *woken)
        for notice in notices:
            if notice.channel is Channel.DELETED:
                await self.pages.deleted(notice.owner_user_id, notice.workspace_id)
        updated = [notice.workspace_id for notice in notices if notice.channel is Channel.SSE]
        if updated:
            await self.pages.updated(await store.shown(updated))
