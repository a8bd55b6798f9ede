"""A way to cut a real service off and bring it back, without stopping it for other tests."""

import asyncio
import contextlib

from tests.relay import Relay


class Switch(Relay):
    """In front of a unix socket: off when closed, on when opened."""

    def __init__(self, socket: str) -> None:
        super().__init__()
        self._socket = socket
        self.taken = 0  # connections so far

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.taken += 1
        server_reader, server_writer = await asyncio.open_unix_connection(self._socket)
        try:
            async with asyncio.TaskGroup() as ways:
                ways.create_task(_copy(reader, server_writer))
                ways.create_task(_copy(server_reader, writer))
        finally:
            server_writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()
