"""Those who come, stay for a while, and go: event streams, WebSockets that say something now and then, and somebody
who puts workspaces to sleep and wakes them."""

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from uuid import UUID

import httpx

from tests.front_door.browser import Browser
from tests.front_door.house import Person

SAY_SECONDS = 15
ANSWER_SECONDS = 60
AGAIN_SECONDS = 1
NAP_SECONDS = 30
STAY_SECONDS = (300, 900)
OPENED_AT_ONCE = 20
CUT_OFF = (asyncio.IncompleteReadError, ConnectionError, TimeoutError)


@dataclass
class Crowd:
    """Whoever leaves or is cut off comes again. What they did is counted."""

    left: int = 0
    cut_off: Counter[str] = field(default_factory=Counter)
    """By how that was noticed."""
    answers: int = 0
    heard_bytes: int = 0
    wishes: int = 0
    unheard_wishes: int = 0
    _turn: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(OPENED_AT_ONCE), repr=False)

    async def listen(self, address: tuple[str, int], token: str) -> None:
        """To the events of a person."""
        host, port = address
        asked = f"GET /api/v1/events HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {token}\r\n\r\n"

        async def stream(stack: AsyncExitStack) -> None:
            async with self._turn, asyncio.timeout(ANSWER_SECONDS):
                reader, writer = await asyncio.open_connection(*address)
                stack.callback(writer.close)
                writer.write(asked.encode())
                _expect(200, int((await reader.readline())[9:12] or 0))
            with suppress(TimeoutError):
                async with asyncio.timeout(_stay()):
                    while heard := await reader.read(65536):
                        self.heard_bytes += len(heard)
                    raise ConnectionResetError("the stream ended")

        await self._again_and_again(stream)

    async def talk(self, browser: Browser, workspace_id: UUID) -> None:
        """To a workspace, which repeats what it hears: masked as it was sent, and so it is only counted."""
        words = b"still here"

        async def websocket(stack: AsyncExitStack) -> None:
            async with self._turn:
                url = f"{browser.origin(workspace_id)}/"
                opened = await stack.enter_async_context(browser.websocket(url))
                _expect(101, opened.status)
            for _ in range(round(_stay() / SAY_SECONDS)):
                await opened.say(words)
                async with asyncio.timeout(ANSWER_SECONDS):
                    await opened.reader.readexactly(6 + len(words))
                self.answers += 1
                await asyncio.sleep(SAY_SECONDS)

        await self._again_and_again(websocket)

    async def rock(self, person: Person, workspaces: Sequence[UUID]) -> None:
        """One after the other is put to sleep, and one after the other woken, so that containers come and go."""
        for wish in itertools.cycle(("STANDBY", "RUNNING")):
            for workspace_id in workspaces:
                await asyncio.sleep(NAP_SECONDS)
                self.wishes += 1
                try:
                    answer = await person.call("PATCH", f"/workspaces/{workspace_id}", {"desired_state": wish})
                    answer.raise_for_status()
                except httpx.HTTPError:
                    self.unheard_wishes += 1

    async def _again_and_again(self, connected: Callable[[AsyncExitStack], Awaitable[None]]) -> None:
        while True:
            async with AsyncExitStack() as stack:
                try:
                    await connected(stack)
                    self.left += 1
                except CUT_OFF as error:
                    self.cut_off[str(error) or type(error).__name__] += 1
            await asyncio.sleep(AGAIN_SECONDS)


def _stay() -> float:
    return random.uniform(*STAY_SECONDS)  # noqa: S311


def _expect(wanted: int, status: int) -> None:
    if status != wanted:
        raise ConnectionRefusedError(f"answered {status}")
