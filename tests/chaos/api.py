"""The API as people use it whose requests may get lost, and what they were told is told to the history."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import httpx

from tests.chaos.history import Answered, Asked, Breached, Created, Failed, History
from tests.front_door.house import Person

ANSWER_SECONDS = 30
AGAIN_SECONDS = 0.3
PATIENCE_SECONDS = 30
SILENT_SECONDS = 300
"""Longer than any fault lasts, and than it takes to start everything anew."""
RESTORE_SECONDS = 600
"""What is there is stopped and archived, the older archive restored and started: each may take its time, and be tried
again."""
TEMPLATE = "tool"
REFUSED = {400, 401, 403, 404, 409, 412, 422, 429}


class Refusal(Exception):
    """It will not be done, however often it is asked; by this code."""


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
                raise Refusal(answer.json().get("code"))
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

    async def archives(self, workspace_id: UUID) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await self.ask("GET", f"/workspaces/{workspace_id}/archives"))["items"]
        return found

    async def restore(self, workspace_id: UUID, archive: str, wish: str) -> bool:
        """Whether it rests as it is wished to, with these files. What was acknowledged and does not come about is a
        breach, unless it came to ERROR, which says why: it would have to be asked for again."""
        try:
            await self.ask("POST", f"/workspaces/{workspace_id}/restore", {"archive_id": archive})
        except Refusal:  # it is in ERROR by now
            return False
        deadline = time.monotonic() + RESTORE_SECONDS
        while time.monotonic() < deadline:
            stands_on = [each["id"] for each in await self.archives(workspace_id) if each["current"]]
            phase = await self.phase(workspace_id)
            if phase == "ERROR":
                return False
            if phase == wish and stands_on == [archive]:
                return True
            await asyncio.sleep(AGAIN_SECONDS)
        self.history.tell(Breached(time.time(), f"archive {archive} of {workspace_id} was never restored"))
        return False

    async def undelete(self, workspace_id: UUID) -> None:
        """Take back the deletion of what lies in its archive."""

        def asking() -> None:
            self.history.tell(Asked(time.time(), str(workspace_id), "wish", "STANDBY"))

        while True:
            try:
                await self.ask("POST", f"/workspaces/{workspace_id}/undelete", {"desired_state": "STANDBY"}, asking)
                break
            except Refusal as refusal:
                if refusal.args != ("being_deleted",):
                    self.history.tell(Breached(time.time(), f"{workspace_id} did not come back: {refusal}"))
                    return
                await asyncio.sleep(AGAIN_SECONDS)
        self.history.tell(Answered(time.time(), str(workspace_id), "wish", "STANDBY"))

    async def until(self, workspace_id: UUID, phase: str, seconds: float = PATIENCE_SECONDS) -> bool:
        """Whether it got there in time."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if await self.phase(workspace_id) == phase:
                return True
            await asyncio.sleep(AGAIN_SECONDS)
        return False
