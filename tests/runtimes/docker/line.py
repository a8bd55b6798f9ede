"""A line to the engine that can be cut."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.runtimes.docker.tool_image import SOCKET


class Line:
    """A socket that leads to the engine until it is cut."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ends: list[asyncio.StreamWriter] = []
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        self._server = await asyncio.start_unix_server(self._pass_on, self.path)

    async def cut(self) -> None:
        assert self._server is not None
        self._server.close()
        for end in self._ends:
            end.transport.abort()
        await self._server.wait_closed()
        self.path.unlink(missing_ok=True)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        engine_reader, engine_writer = await asyncio.open_unix_connection(SOCKET)
        self._ends += [writer, engine_writer]
        await asyncio.gather(_copy(reader, engine_writer), _copy(engine_reader, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


@asynccontextmanager
async def line_to_engine(path: Path) -> AsyncIterator[Line]:
    opened = Line(path)
    await opened.open()
    try:
        yield opened
    finally:
        await opened.cut()
