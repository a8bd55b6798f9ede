"""A bad connection to a real server: it is cut, loses answers, or meets a proxy that says the server is away."""

import asyncio
import contextlib
import re
from collections import deque
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from tests.relay import Relay

Trouble = Literal["lose the answer", "say 503"]
AWAY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\n"
    b'Content-Length: 39\r\nConnection: close\r\n\r\n{"status": 503, "code": "service_away"}\n'
)


class Gate(Relay):
    """In front of the server. `troubles` befall the next requests that change something, one each."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._server_port = urlsplit(url).port
        self.troubles: deque[Trouble] = deque()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._server_port)
        try:
            with contextlib.suppress(ConnectionError):
                await self._pass_on(Ends(reader, writer), Ends(server_reader, server_writer))
        finally:
            server_writer.close()

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
