"""A bad connection to a real server: it is cut, loses answers, or meets a proxy that says the server is away."""

import asyncio
import contextlib
import re
from collections import deque
from dataclasses import dataclass
from typing import Literal, Self
from urllib.parse import urlsplit

Trouble = Literal["lose the answer", "say 503"]
AWAY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\n"
    b'Content-Length: 39\r\nConnection: close\r\n\r\n{"status": 503, "code": "service_away"}\n'
)


class Gate:
    """An address in front of the server. `troubles` befall the next requests that change something, one each."""

    def __init__(self, url: str) -> None:
        self._port = urlsplit(url).port
        self._server: asyncio.Server | None = None
        self._relays: set[asyncio.Task[None]] = set()
        self.port = 0
        self.troubles: deque[Trouble] = deque()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._relay, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Cuts every connection, and takes no new ones."""
        if self._server is not None:
            self._server.close()
        while self._relays:
            for relay in self._relays:
                relay.cancel()
            await asyncio.wait(self._relays)
            await asyncio.sleep(0)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._relays.add(task)
        task.add_done_callback(self._relays.discard)
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            with contextlib.suppress(ConnectionError):
                await self._pass_on(Ends(reader, writer), Ends(server_reader, server_writer))
        finally:
            server_writer.close()
            writer.close()

    async def _pass_on(self, client: "Ends", server: "Ends") -> None:
        """Until either side ends, or a trouble ends it."""
        back = asyncio.create_task(_copy(server, client))
        try:
            while data := await client.reader.read(65536):
                trouble = self.troubles.popleft() if self.troubles and data.startswith(b"POST ") else None
                if trouble is not None:
                    data += await _rest(data, client)
                if trouble == "say 503":
                    await client.send(AWAY)
                    return
                if trouble == "lose the answer":
                    back.cancel()
                    await server.send(data)
                    await server.reader.read(1)  # so it is done
                    return
                await server.send(data)
        finally:
            back.cancel()
            await asyncio.wait([back])


@dataclass(frozen=True)
class Ends:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()


async def _copy(one: Ends, other: Ends) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await one.reader.read(65536):
            await other.send(data)
    other.writer.close()


async def _rest(data: bytes, client: Ends) -> bytes:
    """The body of a request, as far as it did not come with its head."""
    head, _, body = data.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", head)
    return await client.reader.readexactly(int(length[1]) - len(body)) if length else b""
