"""People at work: each has a workspace, wishes something else of it again and again, writes into it, visits it, brings
it back as it was before, and takes a deletion back."""

import asyncio
import time
from dataclasses import dataclass, field
from random import Random
from uuid import UUID, uuid4

import httpx

from tests.chaos.api import AGAIN_SECONDS, Api, Refusal
from tests.chaos.engine import Engine
from tests.chaos.history import Archived, Asked, History, Restored, Restoring, Synced, Visited, Writing
from tests.front_door.browser import Browser

BEGIN_SECONDS = 120
PAGES = 4
WISHES = ("RUNNING", "RUNNING", "STANDBY", "ARCHIVED")


@dataclass
class Worker:
    """One workspace, and who works in it until asked to stop."""

    api: Api
    engine: Engine
    history: History
    chance: Random
    name: str
    workspace_id: UUID = field(init=False)
    _pages: list[str] = field(default_factory=lambda: [f"page-{number}" for number in range(PAGES)])
    _written: int = PAGES
    _renamed: int = 0
    _archives: set[str] = field(default_factory=set)
    """Of which it is known what they hold."""
    _browser: Browser | None = None

    async def begin(self) -> None:
        """There is something that could be lost."""
        self.workspace_id = await self.api.create(self.name, "RUNNING")
        await self.api.until(self.workspace_id, "RUNNING", BEGIN_SECONDS)
        await self._write()

    async def work(self, over: asyncio.Event) -> None:
        while not over.is_set():
            await self._turn()

    async def _turn(self) -> None:
        wish = self.chance.choice(WISHES)
        try:
            await self.api.change(self.workspace_id, "wish", wish)
        except Refusal:  # it is in ERROR, and has to be brought out of it first; or an earlier deletion came late
            if await self.api.phase(self.workspace_id) == "DELETED":
                await self.api.undelete(self.workspace_id)
            return await asyncio.sleep(AGAIN_SECONDS)
        if self.chance.random() < 0.2:
            return None  # it is wished something else before it is there
        if await self.api.until(self.workspace_id, wish):
            await self._arrived(wish)
        if self.chance.random() < 0.2:
            await self._rename()
        return None

    async def _arrived(self, wish: str) -> None:
        if wish == "RUNNING":
            await self._write()
            await self._visit()
        elif wish == "ARCHIVED":
            await self._remember()
            if self.chance.random() < 0.5:
                await self.chance.choice([self._fork, self._take_back])()
                return
        if self.chance.random() < 0.2:
            await self._restore(wish)

    async def _write(self) -> None:
        """A page that may or may not have been written is left to itself: that may still happen."""
        for place in range(len(self._pages)):
            page, content = self._pages[place], uuid4().hex
            self.history.tell(Writing(time.time(), str(self.workspace_id), page, content))
            if await self.engine.write(self.workspace_id, page, content):
                self.history.tell(Synced(time.time(), str(self.workspace_id), page, content))
            else:
                self._pages[place] = f"page-{self._written}"
                self._written += 1

    async def _visit(self) -> None:
        """A navigation wakes what sleeps, which is what is wished at the moment anyway."""
        page = self.chance.choice(self._pages)
        self.history.tell(Asked(time.time(), str(self.workspace_id), "wish", "RUNNING"))
        try:
            if self._browser is None:
                self._browser = await self.api.person.log_in()
            shown = await self._browser.open(f"{self._browser.origin(self.workspace_id)}/{page}")
        except (httpx.HTTPError, AssertionError):
            return
        if shown.status_code == 200 and "content-type" not in shown.headers:  # not a page of ours
            self.history.tell(Visited(time.time(), str(self.workspace_id), page, shown.text))

    async def _rename(self) -> None:
        self._renamed += 1
        await self.api.change(self.workspace_id, "name", f"{self.name}-{self._renamed}")

    async def _fork(self) -> None:
        """And go on with it, or with the source, of which the other is deleted."""
        try:
            fork = await self.api.fork(self.workspace_id, f"{self.name}-fork-{uuid4().hex[:6]}")
        except Refusal:  # it was never opened, and there is nothing to begin with
            return
        await self.api.until(fork, "STANDBY")
        kept, let_go = self.chance.sample([self.workspace_id, fork], 2)
        if kept == fork:
            self.workspace_id, self._archives = fork, set()
        await self.api.change(let_go, "wish", "DELETED")

    async def _remember(self) -> None:
        """What is in the archive is what was last written."""
        for archive in await self.api.archives(self.workspace_id):
            if archive["current"]:
                self._archives.add(archive["id"])
                self.history.tell(Archived(time.time(), str(self.workspace_id), archive["id"]))

    async def _restore(self, wish: str) -> None:
        """An older archive takes the place of what is there, whatever it is wished to be."""
        found = await self.api.archives(self.workspace_id)
        older = [each["id"] for each in found if each["id"] in self._archives and not each["current"]]
        if not older:
            return
        chosen = self.chance.choice(older)
        told = time.time(), str(self.workspace_id), chosen
        self.history.tell(Restoring(*told))
        if await self.api.restore(self.workspace_id, chosen, wish):
            self.history.tell(Restored(time.time(), *told[1:]))

    async def _take_back(self) -> None:
        """A deletion of what lies in its archive: that can be promised."""
        await self.api.change(self.workspace_id, "wish", "DELETED")
        await self.api.undelete(self.workspace_id)
