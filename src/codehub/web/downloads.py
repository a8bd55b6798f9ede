"""Large objects of the archive store on their way to somebody, in bounded memory, for as long as they read."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from uuid import UUID

import structlog
from starlette.types import Receive, Send

from codehub.archives.errors import StoreError
from codehub.clock import elapsed
from codehub.web.api.workspace_problems import TooManyDownloads
from codehub.web.long_answers import reader_leaves

log = structlog.get_logger(__name__)

MOST_AT_ONCE = 4
"""For each user and process: each holds a connection of the store, and a few pieces of memory."""
PIECE_BYTES = 256 * 1024
SLOW_SECONDS = 60.0
"""A reader that does not take one piece in this time is cut off."""
CHECK_SECONDS = 5.0
"""How long somebody who may no longer read can go on."""


@dataclass
class Downloads:
    """How many each user has under way."""

    _under_way: Counter[UUID] = field(default_factory=Counter)

    @contextmanager
    def place(self, user_id: UUID) -> Iterator[None]:
        """Raises TooManyDownloads."""
        if self._under_way[user_id] >= MOST_AT_ONCE:
            raise TooManyDownloads(MOST_AT_ONCE)
        self._under_way[user_id] += 1
        try:
            yield
        finally:
            self._under_way[user_id] -= 1
            if not self._under_way[user_id]:
                del self._under_way[user_id]


@dataclass(frozen=True)
class Download:
    """Sends the pieces, of which the first was read before: a store that is away is told instead of begun with."""

    status: int
    headers: list[tuple[bytes, bytes]]
    first: bytes
    rest: AsyncGenerator[bytes, None]
    may_go_on: Callable[[], Awaitable[bool]]
    held: AsyncExitStack
    """What is given back in the end: the store's connection, and the place."""

    async def __call__(self, receive: Receive, send: Send) -> None:
        """What ends before its announced length ends with its connection: nobody takes a part for the whole."""
        async with self.held:
            sending = asyncio.create_task(self._send(send), name="download")
            leaving = asyncio.create_task(reader_leaves(receive), name="reader of a download")
            try:
                await asyncio.wait([sending, leaving], return_when=asyncio.FIRST_COMPLETED)
            finally:
                sending.cancel()
                leaving.cancel()
                await asyncio.wait([sending, leaving])
            if not sending.cancelled():
                sending.result()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        checked = elapsed()
        try:
            async for piece in self._pieces():
                if elapsed() - checked > CHECK_SECONDS:
                    if not await self.may_go_on():
                        return
                    checked = elapsed()
                async with asyncio.timeout(SLOW_SECONDS):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
        except TimeoutError:
            log.info("download cut off", why="its reader takes nothing")
            return
        except StoreError as error:
            log.warning("download broken off", error=str(error))
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _pieces(self) -> AsyncGenerator[bytes, None]:
        """Small ones, so that a slow reader is told from one that is gone."""
        for start in range(0, len(self.first), PIECE_BYTES):
            yield self.first[start : start + PIECE_BYTES]
        async for piece in self.rest:
            for start in range(0, len(piece), PIECE_BYTES):
                yield piece[start : start + PIECE_BYTES]
