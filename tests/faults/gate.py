"""Ways to the engine and to the store on which a test does something, once, at a request of its choice: whatever is
asked there waits until it is done."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.runtimes.docker.tool_image import SOCKET

Connect = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]
REQUEST = re.compile(rb"(GET|HEAD|PUT|POST|DELETE) /")


def to_engine(socket: Path = SOCKET) -> Connect:
    return lambda: asyncio.open_unix_connection(socket)


def to_port(port: int) -> Connect:
    return lambda: asyncio.open_connection("127.0.0.1", port)


@dataclass
class Trap:
    is_due: Callable[[], Awaitable[bool]]
    """Asked at each request that fits."""
    strike: Callable[[], Awaitable[bool]]
    """What happens then, and whether the request goes on afterwards."""
    request: str = ".*"
    """How it begins: a pattern of method and path."""
    passes: int = 0
    """So many that fit and are due go by unharmed."""
    after_effect: bool = False
    """The request is carried out first; it is its answer that waits."""
    struck: asyncio.Event = field(default_factory=asyncio.Event)
    met: str = ""
    """The request that it struck at."""


@dataclass
class Gates:
    """All that lead there, for all processes, and the traps that wait at each of them."""

    traps: list[Trap] = field(default_factory=list)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def takes(self, piece: bytes) -> Trap | None:
        """The trap that is sprung by this, if any."""
        if not self.traps or REQUEST.match(piece) is None:
            return None
        asked = piece.partition(b"\r\n")[0].decode(errors="replace")
        async with self._turn:
            for trap in self.traps:
                if re.match(trap.request, asked) is not None and await trap.is_due():
                    return self._met(trap, asked)
        return None

    def _met(self, trap: Trap, asked: str) -> Trap | None:
        if trap.passes > 0:
            trap.passes -= 1
            return None
        self.traps.remove(trap)
        trap.met = asked
        return trap


@dataclass
class Gate:
    gates: Gates
    connect: Connect
    _calls: set[asyncio.Task[None]] = field(default_factory=set)
    _ends: list[asyncio.StreamWriter] = field(default_factory=list)

    def called(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        call = asyncio.create_task(self._carry(reader, writer))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        call.add_done_callback(lambda _: writer.close())
        self._ends.append(writer)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await self.connect()
        except OSError:
            return
        self._ends.append(far_writer)
        sprung: list[Trap] = []

        async def forth() -> None:
            while piece := await reader.read(65536):
                trap = await self.gates.takes(piece)
                if trap is not None and trap.after_effect:
                    sprung.append(trap)
                elif trap is not None and not await _struck(trap):
                    return
                far_writer.write(piece)
                await far_writer.drain()

        async def back() -> None:
            while piece := await far_reader.read(65536):
                if sprung and not await _struck(sprung.pop()):
                    return
                writer.write(piece)
                await writer.drain()

        ways = [asyncio.create_task(forth()), asyncio.create_task(back())]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in ways:
                each.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            far_writer.close()

    async def hang_up(self) -> None:
        for call in list(self._calls):
            call.cancel()
            with suppress(asyncio.CancelledError):
                await call
        for each in self._ends:  # of which some may wait for a reader that is no more
            each.transport.abort()


async def _struck(trap: Trap) -> bool:
    try:
        return await trap.strike()
    finally:
        trap.struck.set()


@asynccontextmanager
async def gate(gates: Gates, connect: Connect, path: Path | None = None) -> AsyncIterator[int]:
    """A socket that leads there: at this path, or else at the port that is told."""
    made = Gate(gates, connect)
    if path is not None:
        server = await asyncio.start_unix_server(made.called, path)
    else:
        server = await asyncio.start_server(made.called, "127.0.0.1", 0)
    try:
        yield 0 if path is not None else server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await made.hang_up()
        await server.wait_closed()
