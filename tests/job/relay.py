"""A dumb relay from a unix socket to a store, as a controller runs one; it can cut what passes through it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

CHUNK_BYTES = 64 * 1024


@dataclass
class Relay:
    """After each number of bytes in `cuts`, in either direction together, every connection is cut."""

    path: Path
    host: str
    port: int
    cuts: list[int] = field(default_factory=list)
    passed: int = 0
    is_open: bool = True
    writers: set[asyncio.StreamWriter] = field(default_factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self.is_open:
            writer.close()
            return
        there, back = await asyncio.open_connection(self.host, self.port)
        self.writers |= {writer, back}
        with suppress(OSError):
            await asyncio.gather(self._pass(reader, back), self._pass(there, writer))
        self.writers -= {writer, back}
        for end in (writer, back):
            end.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(CHUNK_BYTES):
            self.passed += len(piece)
            if self.cuts and self.passed >= self.cuts[0]:
                self.cuts.pop(0)
                for end in self.writers:
                    end.transport.abort()
                return
            writer.write(piece)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def relay_to(endpoint: str, path: Path) -> AsyncIterator[Relay]:
    address = urlsplit(endpoint)
    assert address.hostname is not None
    assert address.port is not None
    relay = Relay(path, address.hostname, address.port)
    server = await asyncio.start_unix_server(relay.serve, path)
    try:
        yield relay
    finally:
        server.close()
        for writer in relay.writers:
            writer.transport.abort()
        await server.wait_closed()
