"""The end of a process: connections are let go of one request at a time, and streams end as HTTP wants it."""

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.responses import StreamingResponse

from codehub.settings import Settings
from codehub.web import server as web_server
from codehub.web.app import Dependencies, create_app
from codehub.web.process import Process
from codehub.web.server import DrainingServer
from tests.folders import short_folder

ASK = b"GET %b HTTP/1.1\r\nHost: codehub.test\r\n\r\n"


class Connection:
    """One connection, and what is said on it, to the byte."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def ask(self, path: str) -> tuple[int, dict[str, str]]:
        """The status and headers of the answer, whose body is read too unless it has no length."""
        self._writer.write(ASK % path.encode())
        status = int((await self._reader.readline()).split()[1])
        headers = {}
        while (line := await self._reader.readline()).strip():
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        await self._reader.readexactly(int(headers.get("content-length", 0)))
        return status, headers

    async def until(self, end: bytes) -> bytes:
        async with asyncio.timeout(60):
            return await self._reader.readuntil(end)

    async def rest(self) -> bytes:
        """All that still comes until the other side closes."""
        async with asyncio.timeout(60):
            return await self._reader.read()

    def close(self) -> None:
        self._writer.close()


class Serving:
    def __init__(self, app: FastAPI, process: Process, own: Path) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.own = own
        self.server = DrainingServer(app, process.drain, own)
        self.task = asyncio.create_task(self.server.serve([self.listener.dup()]))

    def asked_to_end(self, number: signal.Signals) -> None:
        self.server.handle_exit(number, None)
        self.server._captured_signals.clear()  # it would send them to the process of the tests

    async def until_ready(self) -> None:
        async with asyncio.timeout(60):
            while not self.own.exists():
                await asyncio.sleep(0.01)

    async def until_drains(self) -> None:
        async with asyncio.timeout(60):
            await self.server._drain.begun()

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Connection]:
        connection = Connection(*await asyncio.open_connection(*self.listener.getsockname()))
        try:
            yield connection
        finally:
            connection.close()


@pytest.fixture
def own_folder() -> Iterator[Path]:
    with short_folder() as folder:
        yield folder


@pytest.fixture
async def serving(settings: Settings, unused_dependencies: Dependencies, own_folder: Path) -> AsyncIterator[Serving]:
    process = Process()
    app = create_app(settings, unused_dependencies, process=process)

    @app.get("/endless")
    async def endless() -> StreamingResponse:
        async def pieces() -> AsyncIterator[bytes]:
            yield b"first"
            await asyncio.Event().wait()

        return StreamingResponse(pieces(), headers={"X-Accel-Buffering": "no"})

    @app.get("/thinking")
    async def thinking() -> None:
        await process.drain.begun()
        await asyncio.sleep(0.2)

    serving = Serving(app, process, own_folder / "own.sock")
    yield serving
    serving.asked_to_end(signal.SIGINT)
    await serving.task
    serving.listener.close()


async def test_an_idle_connection_brings_one_more_request_which_tells_it_to_go(serving: Serving) -> None:
    async with serving.connected() as idle, serving.connected() as unused:
        assert (await idle.ask("/healthz"))[0] == 200
        serving.asked_to_end(signal.SIGTERM)
        await serving.until_drains()
        for connection in (idle, unused):
            status, headers = await connection.ask("/healthz")
            assert (status, headers["connection"]) == (200, "close")
            assert await connection.rest() == b""
        await serving.task


async def test_nothing_new_is_accepted_and_the_listening_socket_stays_open_for_others(serving: Serving) -> None:
    async with serving.connected() as kept:
        await kept.ask("/healthz")
        serving.asked_to_end(signal.SIGTERM)
        await serving.until_drains()
        async with serving.connected() as later:
            later._writer.write(ASK % b"/healthz")
            accepted, _ = await asyncio.to_thread(serving.listener.accept)  # by its owner, the supervisor's next child
            with accepted:
                assert await asyncio.to_thread(accepted.recv, 100) == ASK % b"/healthz"


async def test_a_request_under_way_is_answered(serving: Serving) -> None:
    async with serving.connected() as busy:
        answering = asyncio.create_task(busy.ask("/thinking"))
        async with serving.connected() as other:
            await other.ask("/healthz")  # the first has arrived too by now
            serving.asked_to_end(signal.SIGINT)
            status, headers = await answering
    assert (status, headers["connection"]) == (200, "close")


async def test_whoever_has_just_connected_to_its_own_socket_is_answered(serving: Serving) -> None:
    await serving.until_ready()
    with socket.socket(socket.AF_UNIX) as visitor:
        visitor.connect(str(serving.own))
        visitor.sendall(ASK % b"/healthz")
        await serving.server.shutdown()  # which begins before anybody has seen the visitor
        assert visitor.recv(4096).startswith(b"HTTP/1.1 200 OK\r\n")
    assert not serving.own.exists()


async def test_a_stream_ends_as_http_wants_it(serving: Serving) -> None:
    async with serving.connected() as reader:
        assert (await reader.ask("/endless"))[0] == 200
        serving.asked_to_end(signal.SIGTERM)
        assert await reader.until(b"0\r\n\r\n") == b"5\r\nfirst\r\n0\r\n\r\n"
        status, headers = await reader.ask("/healthz")  # the end of the stream has not said that it would be the last
        assert (status, headers["connection"]) == (200, "close")


async def test_idle_connections_are_closed_after_a_while_and_in_a_hurry_at_once(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_server, "IDLE_SECONDS", 0.3)
    async with serving.connected() as idle:
        await idle.ask("/healthz")
        serving.asked_to_end(signal.SIGTERM)
        assert await idle.rest() == b""
        await serving.task


async def test_a_second_signal_hurries(serving: Serving) -> None:
    async with serving.connected() as idle:
        await idle.ask("/healthz")
        serving.asked_to_end(signal.SIGTERM)
        await serving.until_drains()
        serving.asked_to_end(signal.SIGTERM)
        assert await idle.rest() == b""
        await serving.task
