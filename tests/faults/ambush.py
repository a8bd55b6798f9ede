"""Lines to the engine on which the process at the other end is killed, at a request of the test's choice."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.runtimes.docker.tool_image import SOCKET


@dataclass
class Trap:
    """What all lines wait for together; it strikes once, whoever comes that way."""

    request: re.Pattern[bytes] | None = None
    after_effect: bool = False

    def lay(self, request: str, *, after_effect: bool) -> None:
        """Before its effect: the engine never hears of the request. After: the process never hears the answer."""
        method, path = request.split()
        self.request = re.compile(rf"{method} (/v[\d.]+)?/{path}".encode())
        self.after_effect = after_effect

    def takes(self, piece: bytes) -> bool:
        struck = self.request is not None and self.request.match(piece) is not None
        if struck:
            self.request = None
        return struck

    @property
    def has_struck(self) -> bool:
        return self.request is None


@dataclass
class Line:
    """One process's way to the engine."""

    trap: Trap
    kill: Callable[[], None] = lambda: None
    """Ends the process."""
    _calls: set[asyncio.Task[None]] = field(default_factory=set)

    def called(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        call = asyncio.create_task(self._carry(reader, writer))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        engine_reader, engine_writer = await asyncio.open_unix_connection(SOCKET)
        doomed = asyncio.Event()

        async def forth() -> None:
            while piece := await reader.read(65536):
                if self.trap.takes(piece):
                    doomed.set()
                    if not self.trap.after_effect:
                        return
                engine_writer.write(piece)

        async def back() -> None:
            while piece := await engine_reader.read(65536):
                if doomed.is_set():
                    return
                writer.write(piece)

        ways = [asyncio.create_task(forth()), asyncio.create_task(back())]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            if doomed.is_set():
                self.kill()
        finally:
            for each in ways:
                each.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            engine_writer.close()
            writer.close()

    async def hang_up(self) -> None:
        for call in list(self._calls):
            call.cancel()
            with suppress(asyncio.CancelledError):
                await call


@asynccontextmanager
async def line(trap: Trap, path: Path) -> AsyncIterator[Line]:
    """A socket that leads to the engine."""
    made = Line(trap)
    server = await asyncio.start_unix_server(made.called, path)
    try:
        yield made
    finally:
        server.close()
        await made.hang_up()
        await server.wait_closed()
