"""Those who listen: event streams that are open all the time, and WebSockets that say something now and then."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from uuid import UUID

from tests.front_door.browser import Browser

SAY_SECONDS = 15
ANSWER_SECONDS = 60
AGAIN_SECONDS = 1
OPENED_AT_ONCE = 20


@dataclass
class Crowd:
    """Whoever is cut off comes again, and is counted."""

    came_again: int = 0
    _turn: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(OPENED_AT_ONCE))

    async def listen(self, address: tuple[str, int], token: str) -> None:
        """To the events of a person."""
        host, port = address
        asked = f"GET /api/v1/events HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {token}\r\n\r\n"

        async def stream(stack: AsyncExitStack) -> None:
            async with self._turn:
                reader, writer = await asyncio.open_connection(*address)
                stack.callback(writer.close)
                writer.write(asked.encode())
                await reader.readline()
            while await reader.read(65536):
                pass

        await self._again_and_again(stream)

    async def talk(self, browser: Browser, workspace_id: UUID) -> None:
        """To a workspace, which repeats what it hears: masked as it was sent, and so it is only counted."""
        words = b"still here"

        async def websocket(stack: AsyncExitStack) -> None:
            async with self._turn:
                url = f"{browser.origin(workspace_id)}/"
                opened = await stack.enter_async_context(browser.websocket(url))
            while opened.status == 101:
                await opened.say(words)
                async with asyncio.timeout(ANSWER_SECONDS):
                    await opened.reader.readexactly(6 + len(words))
                await asyncio.sleep(SAY_SECONDS)

        await self._again_and_again(websocket)

    async def _again_and_again(self, connected: Callable[[AsyncExitStack], Awaitable[None]]) -> None:
        while True:
            async with AsyncExitStack() as stack:
                with suppress(asyncio.IncompleteReadError, ConnectionError, TimeoutError):
                    await connected(stack)
            self.came_again += 1
            await asyncio.sleep(AGAIN_SECONDS)
