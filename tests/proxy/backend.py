"""Something that answers as a test wants it to, and remembers every byte that reached it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from codehub.model.conditions import Endpoint

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Talk:
    """One connection to the backend."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer
        self.seen = bytearray()
        self.failure: AssertionError | None = None
        """What the script did not accept."""
        self.is_over = False

    async def head(self) -> bytes:
        """The next head; raises EOFError at the end."""
        return await self._note(self._reader.readuntil(b"\r\n\r\n"))

    async def exactly(self, number: int) -> bytes:
        return await self._note(self._reader.readexactly(number))

    async def request(self) -> bytes:
        """The next head and its body, however that is framed."""
        whole = await self.head()
        lines = [line.rstrip() for line in whole.lower().split(b"\r\n")]
        if any(line.startswith(b"transfer-encoding:") and line.endswith(b"chunked") for line in lines):
            return whole + await self._chunks()
        lengths = [int(line[15:]) for line in lines if line.startswith(b"content-length:")]
        return whole + await self.exactly(sum(lengths))

    async def _chunks(self) -> bytes:
        whole = b""
        while True:
            line = await self._note(self._reader.readuntil(b"\r\n"))
            whole += line
            size = int(line.partition(b";")[0], 16)
            if not size:
                break
            whole += await self.exactly(size + 2)
        while not whole.endswith(b"\r\n\r\n"):
            whole += await self._note(self._reader.readuntil(b"\r\n"))
        return whole

    async def rest(self) -> bytes:
        return await self._note(self._reader.read())

    async def some(self) -> bytes:
        return await self._note(self._reader.read(65536))

    async def _note(self, reading: Awaitable[bytes]) -> bytes:
        try:
            data = await reading
        except asyncio.IncompleteReadError as error:
            self.seen += error.partial
            raise EOFError from error
        self.seen += data
        return data

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def close(self) -> None:
        self.writer.close()

    def end(self) -> None:
        self.writer.write_eof()


Script = Callable[[Talk], Awaitable[None]]


async def always_ok(talk: Talk) -> None:
    while True:
        await talk.request()
        await talk.say(OK)


async def echo_requests(talk: Talk) -> None:
    """Answers each request with the bytes of it."""
    while True:
        whole = await talk.request()
        await talk.say(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(whole), whole))


def answering(answer: bytes, *, then_closes: bool = False) -> Script:
    async def script(talk: Talk) -> None:
        while True:
            await talk.request()
            await talk.say(answer)
            if then_closes:
                return

    return script


@dataclass
class Backend:
    endpoint: Endpoint
    script: Script
    talks: list[Talk] = field(default_factory=list)

    @property
    def seen(self) -> bytes:
        """Everything that ever reached it."""
        return b"".join(bytes(talk.seen) for talk in self.talks)

    @property
    def open_talks(self) -> list[Talk]:
        return [talk for talk in self.talks if not talk.is_over]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = Talk(reader, writer)
        self.talks.append(talk)
        try:
            await self.script(talk)
        except (EOFError, ConnectionError):
            pass  # the front door has gone: what it sent is noted
        except AssertionError as failure:
            talk.failure = failure
        finally:
            talk.is_over = True
            writer.close()


@asynccontextmanager
async def running_backend(script: Script = always_ok, path: Path | None = None) -> AsyncIterator[Backend]:
    """On a port of its own, or on a unix socket."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await backend.serve(reader, writer)
        except asyncio.CancelledError:
            pass  # the test is over
        finally:
            tasks.discard(task)

    if path is None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=2**22)
        port = server.sockets[0].getsockname()[1]
        backend = Backend(Endpoint(f"container-{port}", "127.0.0.1", port), script)
    else:
        server = await asyncio.start_unix_server(serve, path, limit=2**22)
        backend = Backend(Endpoint(path.name, f"unix:{path}", 0), script)
    try:
        yield backend
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
