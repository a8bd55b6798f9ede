"""Ways to the services on which trouble can be made: slow, silent, cut, or dead at one end only."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from enum import StrEnum
from pathlib import Path

from tests.faults.gate import Connect

DELAY_SECONDS = 0.2
RESETS = struct.pack("ii", 1, 0)


class Trouble(StrEnum):
    DELAY = "delay"
    """Each piece takes its time."""
    STALL = "stall"
    """Nothing passes, and goes on afterwards as if nothing had been."""
    RESET = "reset"
    """Every connection is cut, and so is each new one."""
    HALF_OPEN = "half-open"
    """The service has lost the connections, of which their other ends learn when it is over; new ones pass."""


class Call:
    """One connection, both ways."""

    def __init__(self, near: asyncio.StreamWriter, far: asyncio.StreamWriter) -> None:
        self.near = near
        self.far = far
        self.is_half_open = False

    def reset(self) -> None:
        for end in (self.near, self.far):
            connection = end.get_extra_info("socket")
            if connection is not None and connection.family == socket.AF_INET:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESETS)
            end.transport.abort()


class TroubledWay:
    """From those who call here to a service."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._calls: dict[asyncio.Task[None], Call | None] = {}
        self._passable = asyncio.Event()
        self._passable.set()
        self._trouble: Trouble | None = None

    async def suffer(self, trouble: Trouble, seconds: float) -> None:
        self._trouble = trouble
        match trouble:
            case Trouble.STALL:
                self._passable.clear()
            case Trouble.RESET:
                self._reset_all()
            case Trouble.HALF_OPEN:
                for call in self._calls.values():
                    if call is not None:
                        call.is_half_open = True
                        call.far.transport.abort()
            case Trouble.DELAY:
                pass
        try:
            await asyncio.sleep(seconds)
        finally:
            self._trouble = None
            self._passable.set()
            for task, call in self._calls.items():
                if call is not None and call.is_half_open:
                    call.reset()
                    task.cancel()

    def called(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._carry(reader, writer))
        self._calls[task] = None
        task.add_done_callback(self._calls.pop)

    async def hang_up(self) -> None:
        self._reset_all()
        for task in list(self._calls):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    def _reset_all(self) -> None:
        for call in self._calls.values():
            if call is not None:
                call.reset()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._passable.wait()
            if self._trouble is not Trouble.RESET:
                with suppress(OSError):
                    await self._pass_on(reader, writer)
        finally:
            writer.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await self._connect()
        task = asyncio.current_task()
        assert task is not None
        call = self._calls[task] = Call(writer, far_writer)
        ways = [
            asyncio.create_task(self._one_way(call, reader, far_writer)),
            asyncio.create_task(self._one_way(call, far_reader, writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            far_writer.close()

    async def _one_way(self, call: Call, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Until an end; whoever is connected to nobody any more is not told."""
        with suppress(OSError):
            while piece := await reader.read(65536):
                if self._trouble is Trouble.DELAY:
                    await asyncio.sleep(DELAY_SECONDS)
                await self._passable.wait()
                writer.write(piece)
                await writer.drain()
        if call.is_half_open:
            await asyncio.Event().wait()


@asynccontextmanager
async def way(connect: Connect, path: Path | None = None) -> AsyncIterator[tuple[TroubledWay, int]]:
    """One that begins at this path, or else at the port that is told."""
    made = TroubledWay(connect)
    if path is not None:
        server = await asyncio.start_unix_server(made.called, path)
    else:
        server = await asyncio.start_server(made.called, "127.0.0.1", 0)
    try:
        yield made, 0 if path is not None else server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await made.hang_up()
        await server.wait_closed()
