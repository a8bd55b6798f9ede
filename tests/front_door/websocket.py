"""A WebSocket from outside, byte by byte: what a browser would be told, also when it is refused."""

import asyncio
import json
import os
import ssl
import struct
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

SECONDS = 20.0


@dataclass
class WebSocket:
    status: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def say(self, words: bytes) -> None:
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(words))
        self.writer.write(bytes([0x81, 0x80 | len(words)]) + mask + masked)
        await self.writer.drain()

    async def hear(self) -> bytes:
        kind, words = await self._frame()
        assert kind == 1
        return words

    async def told(self) -> Any:  # noqa: ANN401 (whatever JSON)
        """The first thing that the workspace says: what it was asked."""
        return json.loads(await self.hear())

    async def closed(self) -> int | None:
        """The code with which it is closed, whatever is said before; None where it only ends."""
        while True:
            try:
                kind, words = await self._frame()
            except asyncio.IncompleteReadError:
                return None
            if kind == 8:
                (code,) = struct.unpack(">H", words[:2])
                return int(code)

    async def _frame(self) -> tuple[int, bytes]:
        async with asyncio.timeout(SECONDS):
            head = await self.reader.readexactly(2)
            length = head[1] & 127
            if length == 126:
                (length,) = struct.unpack(">H", await self.reader.readexactly(2))
            return head[0] & 15, await self.reader.readexactly(length)


@asynccontextmanager
async def open_websocket(
    address: tuple[str, int], target: str, headers: Mapping[str, str], tls: tuple[ssl.SSLContext, str] | None = None
) -> AsyncIterator[WebSocket]:
    """Over TLS: whom one trusts, and the name that is asked for."""
    context, name = tls or (None, None)
    reader, writer = await asyncio.open_connection(*address, ssl=context, server_hostname=name)
    lines = [f"GET {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    lines += ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"]
    lines += ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", ""]
    writer.write("\r\n".join(lines).encode())
    try:
        async with asyncio.timeout(SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
        yield WebSocket(int(head[9:12]), reader, writer)
    finally:
        writer.close()
        with suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()
