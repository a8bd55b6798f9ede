"""The way of jobs to a store on the network: from a unix socket in a folder that is given to them, to the store's
address and nowhere else.

It passes bytes on and understands none of them: TLS, where there is any, is between the job and the store. Whoever
leads opens it at the same path, so that a job which outlived the leader before finds it there again."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import structlog

log = structlog.get_logger()

SOCKET = "store.sock"
CHUNK_BYTES = 256 * 1024
CONNECT_SECONDS = 10.0
CONNECTIONS_PER_JOB = 8
"""A job sends four parts at a time, and asks a question or two beside them."""


class StoreRelay:
    def __init__(self, folder: Path, address: tuple[str, int], most: int) -> None:
        self.path = folder / SOCKET
        self._address = address
        self._most = most
        self._carried: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        """Until cancelled; then every connection is cut: whoever relays without leading would outlive its lease."""
        server = await asyncio.start_unix_server(self._take, sock=self._bound())
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            server.close()
            for each in self._carried:
                each.cancel()
            if self._carried:
                await asyncio.wait(self._carried)

    def _bound(self) -> socket.socket:
        """Listening under its name from one moment to the next: a predecessor's socket is replaced, never missing."""
        self.path.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
        draft = self.path.with_name(f".{SOCKET}")
        draft.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(draft))
        draft.chmod(0o666)  # a job may be any user in there; who can reach the folder is decided by who is given it
        listener.listen()
        listener.setblocking(False)
        draft.rename(self.path)
        return listener

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 (a connection is served by a task)
        if len(self._carried) >= self._most:
            writer.close()  # the job tries again
            return
        self._carried.add(task)
        try:
            with contextlib.suppress(OSError):
                await self._carry(reader, writer)
        finally:
            self._carried.discard(task)
            writer.close()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with self._connected() as (answers, store):
            there = asyncio.ensure_future(_pass(reader, store))
            back = asyncio.ensure_future(_pass(answers, writer))
            try:
                await asyncio.wait([there, back], return_when=asyncio.FIRST_EXCEPTION)
            finally:
                for each in (there, back):
                    each.cancel()
                await asyncio.gather(there, back, return_exceptions=True)

    @contextlib.asynccontextmanager
    async def _connected(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                reader, writer = await asyncio.open_connection(*self._address)
        except OSError as error:
            log.debug("store not reached for a job", error=repr(error))
            raise
        try:
            yield reader, writer
        finally:
            writer.close()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(CHUNK_BYTES):
        writer.write(piece)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
