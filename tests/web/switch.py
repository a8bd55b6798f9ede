"""A way to cut a real service off and bring it back, without stopping it for other tests."""

import asyncio
import contextlib
from typing import Self


class Switch:
    """A TCP address in front of a unix socket; `off` cuts every connection and takes no new ones."""

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self._server: asyncio.Server | None = None
        self._relays: set[asyncio.Task[None]] = set()
        self.port = 0
        self.taken = 0  # connections so far

    async def __aenter__(self) -> Self:
        await self.on()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.off()

    async def on(self) -> None:
        self._server = await asyncio.start_server(self._relay, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def off(self) -> None:
        if self._server is not None:
            self._server.close()
        while self._relays:  # one that was accepted in this moment joins them a turn of the loop later
            for relay in self._relays:
                relay.cancel()
            await asyncio.wait(self._relays)
            await asyncio.sleep(0)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._relays.add(task)
        task.add_done_callback(self._relays.discard)
        self.taken += 1
        try:
            server_reader, server_writer = await asyncio.open_unix_connection(self._socket)
            try:
                async with asyncio.TaskGroup() as ways:
                    ways.create_task(_copy(reader, server_writer))
                    ways.create_task(_copy(server_reader, writer))
            finally:
                server_writer.close()
        finally:
            writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()
