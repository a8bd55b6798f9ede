"""People at work: each has a workspace, wishes something else of it again and again, writes into it, visits it."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any
from uuid import UUID, uuid4

import httpx

from tests.chaos.engine import Engine
from tests.chaos.history import Answered, Asked, Breached, Created, Failed, History, Synced, Visited, Writing
from tests.front_door.browser import Browser
from tests.front_door.house import Person

ANSWER_SECONDS = 30
AGAIN_SECONDS = 0.3
PATIENCE_SECONDS = 30
SILENT_SECONDS = 300
"""Longer than any fault lasts, and than it takes to start everything anew."""
BEGIN_SECONDS = 120
PAGES = 4
TEMPLATE = "tool"
WISHES = ("RUNNING", "RUNNING", "STANDBY", "ARCHIVED")
REFUSED = {400, 401, 403, 404, 409, 412, 422, 429}


class Refusal(Exception):
    """It will not be done, however often it is asked."""


@dataclass
class Api:
    """The API for somebody who asks until there is an answer."""

    person: Person
    history: History
    made: set[UUID] = field(default_factory=set)
    """The workspaces of this person."""
    _client: httpx.AsyncClient = field(init=False)

    def __post_init__(self) -> None:
        self._client = httpx.AsyncClient(
            base_url=f"{self.person.house.url}/api/v1",
            headers=self.person.bearer,
            timeout=ANSWER_SECONDS,
            trust_env=False,
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def ask(
        self, method: str, path: str, body: object = None, asking: Callable[[], None] = lambda: None
    ) -> dict[str, Any]:
        """Once, however often it is sent; `asking` is told of each time. Raises Refusal, and TimeoutError where nobody
        answers any more, which is a breach."""
        key = {"Idempotency-Key": uuid4().hex} if method == "POST" else {}
        deadline = time.monotonic() + SILENT_SECONDS
        while time.monotonic() < deadline:
            asking()
            try:
                answer = await self._client.request(method, path, json=body, headers=key)
            except httpx.HTTPError:
                await asyncio.sleep(AGAIN_SECONDS)
                continue
            if answer.is_success:
                found: dict[str, Any] = answer.json()
                return found
            if answer.status_code in REFUSED and answer.json().get("code") != "in_progress":
                raise Refusal(answer.text)
            await asyncio.sleep(AGAIN_SECONDS)
        silence = f"{method} {path} was not answered within {SILENT_SECONDS} s"
        self.history.tell(Breached(time.time(), silence))
        raise TimeoutError(silence)

    async def create(self, name: str, wish: str) -> UUID:
        body = {"name": name, "template": TEMPLATE, "desired_state": wish}
        made = UUID((await self.ask("POST", "/workspaces", body))["id"])
        self._tell_of(made, name, wish)
        return made

    async def fork(self, source: UUID, name: str) -> UUID:
        body = {"name": name, "desired_state": "STANDBY"}
        made = UUID((await self.ask("POST", f"/workspaces/{source}/fork", body))["id"])
        self._tell_of(made, name, "STANDBY", str(source))
        return made

    def _tell_of(self, made: UUID, name: str, wish: str, source: str | None = None) -> None:
        self.made.add(made)
        self.history.tell(Created(time.time(), str(made), name, wish, source))

    async def change(self, workspace_id: UUID, what: str, value: str) -> None:
        """`what` is `wish` or `name`."""

        def asking() -> None:
            self.history.tell(Asked(time.time(), str(workspace_id), what, value))

        path = f"/workspaces/{workspace_id}"
        if value == "DELETED":
            await self.ask("DELETE", path, asking=asking)
        else:
            await self.ask("PATCH", path, {"desired_state" if what == "wish" else what: value}, asking)
        self.history.tell(Answered(time.time(), str(workspace_id), what, value))

    async def phase(self, workspace_id: UUID) -> str:
        """At rest; with an operation under way, none. One in ERROR is asked to go on."""
        found = await self.ask("GET", f"/workspaces/{workspace_id}")
        if found["phase"] == "ERROR":
            self.history.tell(Failed(time.time(), str(workspace_id), found["error"]["reason"]))
            await self.recover(workspace_id)
        return str(found["phase"]) if found["operation"] is None else ""

    async def recover(self, workspace_id: UUID) -> None:
        try:
            await self.ask("POST", f"/workspaces/{workspace_id}/recover")
        except Refusal:
            return  # it is out of it by itself, or was asked already

    async def until(self, workspace_id: UUID, phase: str, seconds: float = PATIENCE_SECONDS) -> bool:
        """Whether it got there in time."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if await self.phase(workspace_id) == phase:
                return True
            await asyncio.sleep(AGAIN_SECONDS)
        return False


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
        except Refusal:  # it is in ERROR, and has to be brought out of it first
            await self.api.phase(self.workspace_id)
            return await asyncio.sleep(AGAIN_SECONDS)
        if self.chance.random() < 0.2:
            return None  # it is wished something else before it is there
        arrived = await self.api.until(self.workspace_id, wish)
        if arrived and wish == "RUNNING":
            await self._write()
            await self._visit()
        elif arrived and wish == "ARCHIVED" and self.chance.random() < 0.3:
            await self._fork()
        if self.chance.random() < 0.2:
            await self._rename()
        return None

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
        self.workspace_id = kept
        await self.api.change(let_go, "wish", "DELETED")
