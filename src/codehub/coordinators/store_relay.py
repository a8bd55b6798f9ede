"""The way of jobs to a store on the network: from a unix socket in a folder that is given to them, to the store's
address and nowhere else.

It passes bytes on and understands none of them: TLS, where there is any, is between the job and the store. Whoever
leads opens it at the same path, so that a job which outlived the leader before finds it there again."""

import asyncio
import contextlib
import socket
from pathlib import Path

import structlog

log = structlog.get_logger()

SOCKET = "store.sock"
CHUNK_BYTES = 256 * 1024
CONNECT_SECONDS = 10.0
OPEN_AGAIN_SECONDS = 5.0
CONNECTIONS_PER_JOB = 8
"""A job sends four parts at a time, and asks a question or two beside them."""


class StoreRelay:
    def __init__(self, folder: Path, address: tuple[str, int], most: int) -> None:
        self.path = folder / SOCKET
        self._address = address
        self._most = most
        self._carried: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        """Until cancelled; then every connection is cut: whoever relays without leading would outlive its lease. Where
        it cannot be opened jobs fail, and nothing else does."""
        while True:
            try:
                await self._serve()
            except OSError as error:
                log.warning("jobs cannot reach the archive store", socket=str(self.path), reason=str(error))
                await asyncio.sleep(OPEN_AGAIN_SECONDS)

    async def _serve(self) -> None:
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
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.parent.chmod(0o711)  # whatever the umask leaves of it: jobs have other users
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
                await _close(writer)
        finally:
            writer.transport.abort()
            self._carried.discard(task)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(CONNECT_SECONDS):
            answers, store = await asyncio.open_connection(*self._address)
        try:
            async with asyncio.TaskGroup() as both_ways:
                both_ways.create_task(_pass(reader, store))
                both_ways.create_task(_pass(answers, writer))
            await _close(store)
        except* OSError as broken:  # on either side: the other one is not left waiting
            raise broken.exceptions[0] from None
        finally:
            store.transport.abort()


async def _close(writer: asyncio.StreamWriter) -> None:
    """Once everything has gone out."""
    writer.close()
    await writer.wait_closed()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(CHUNK_BYTES):
        writer.write(piece)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
