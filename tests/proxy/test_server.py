"""A process of the front door: its end costs no request, its own socket tells of it, and it speaks TLS if it may."""

import asyncio
import signal
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from codehub.proxy import drain
from codehub.proxy.doorkeeper import Doorkeeper, Visits
from codehub.proxy.frames import close_frame
from codehub.proxy.server import Server, Serving
from tests.folders import short_folder
from tests.proxy.backend import OK, Backend, Talk, running_backend
from tests.proxy.keeper import COOKIE, TableKeeper
from tests.proxy.scene import Client, until
from tests.proxy.test_tunnels import AGREED


class Running:
    """A server on a socket that the test owns, as a supervisor does."""

    def __init__(self, listener: socket.socket, backend: Backend, **serving: object) -> None:
        self.listener = listener
        self.keeper = TableKeeper()
        self.workspace = self.keeper.put("w", b"ann", backend.endpoint)
        self.server = Server(Serving([listener.dup()], **serving), self._keeping)  # type: ignore[arg-type]
        self.task = asyncio.create_task(self.server.serve())

    @asynccontextmanager
    async def _keeping(self, _visits: Visits) -> AsyncIterator[Doorkeeper]:
        yield self.keeper

    def asked(self, *more: bytes) -> bytes:
        lines = [b"Host: %b.dev.test" % self.workspace, b"Cookie: %b=ann-secret" % COOKIE, *more]
        return b"GET / HTTP/1.1\r\n%b\r\n\r\n" % b"\r\n".join(lines)

    def upgrade(self) -> bytes:
        origin = b"Origin: http://%b.dev.test" % self.workspace
        return self.asked(b"Connection: Upgrade", b"Upgrade: websocket", origin)

    async def connect(self) -> Client:
        return await Client.connect(self.listener.getsockname())


async def script(talk: Talk) -> None:
    while True:
        head = await talk.head()
        if b"websocket" in head:
            await talk.say(AGREED)
            await talk.rest()
        elif b"X-Wait" in head:
            waiting.append(talk)
            await asyncio.Event().wait()
        else:
            await talk.say(OK)


waiting: list[Talk] = []


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with running_backend(script) as backend:
        yield backend


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        yield listener


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drain, "IDLE_SECONDS", 0.2)


async def ended(running: Running) -> None:
    async with asyncio.timeout(60):
        await running.task


@pytest.mark.usefixtures("hasty")
async def test_a_drain_answers_what_is_under_way_and_says_goodbye_to_websockets_at_its_end(
    listener: socket.socket, backend: Backend
) -> None:
    running = Running(listener, backend)
    await running.server.is_ready.wait()
    busy, idle, tunnel = [await running.connect() for _ in range(3)]
    await tunnel.send(running.upgrade())
    assert (await tunnel.head()).status == 101
    await idle.send(running.asked())
    assert (await idle.answer()).status == 200
    await busy.send(running.asked(b"X-Wait: 1"))
    await until(lambda: waiting)
    running.server.end(signal.SIGTERM)
    await asyncio.sleep(0)
    successor = Running(listener, backend)
    await successor.server.is_ready.wait()
    await idle.send(running.asked())
    last = await idle.answer()
    assert (last.status, last.values(b"connection")) == (200, [b"close"])
    assert not tunnel.reader.at_eof()
    await waiting.pop().say(OK)
    assert (await busy.answer()).values(b"connection") == [b"close"]
    assert await tunnel.rest() == close_frame(1012)
    tunnel.close()
    await ended(running)
    again = await successor.connect()
    await again.send(successor.asked())
    assert (await again.answer()).status == 200
    successor.server.end(signal.SIGINT)
    await ended(successor)
    for client in (busy, idle, again):
        client.close()


@pytest.mark.usefixtures("hasty")
async def test_streams_of_events_end_between_two_of_them(listener: socket.socket) -> None:
    goes_on = asyncio.Event()

    async def events(talk: Talk) -> None:
        await talk.request()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        await talk.say(head + b"6\r\nevent1\r\n6\r\neve")
        await goes_on.wait()
        await talk.say(b"nt2\r\n")
        await talk.rest()

    async with running_backend(events) as backend:
        running = Running(listener, backend)
        await running.server.is_ready.wait()
        client = await running.connect()
        await client.send(running.asked())
        await client.head()
        running.server.end(signal.SIGTERM)
        assert await client.exactly(17) == b"6\r\nevent1\r\n6\r\neve"[:17]
        goes_on.set()
        assert (await client.rest()).endswith(b"nt2\r\n0\r\n\r\n")
        await ended(running)
        client.close()


@pytest.mark.usefixtures("hasty")
async def test_what_takes_longer_than_the_drain_is_cut(listener: socket.socket, backend: Backend) -> None:
    running = Running(listener, backend, drain_seconds=0.3)
    await running.server.is_ready.wait()
    busy = await running.connect()
    await busy.send(running.asked(b"X-Wait: 1"))
    await until(lambda: waiting)
    running.server.end(signal.SIGTERM)
    await ended(running)
    assert await busy.rest() == b""
    busy.close()
    waiting.clear()


async def test_its_own_socket_tells_what_it_does(listener: socket.socket, backend: Backend) -> None:
    with short_folder() as folder, socket.socket(socket.AF_UNIX) as own:
        path = Path(folder) / "proxy-1.7.sock"
        own.bind(str(path))
        own.listen()
        own.setblocking(False)
        running = Running(listener, backend, own=own.dup())
        await running.server.is_ready.wait()
        client = await running.connect()
        await client.send(running.asked())
        assert (await client.answer()).status == 200
        await client.send(b"nonsense\r\n\r\n")
        assert (await client.answer()).status == 400
        inside = Client(*await asyncio.open_unix_connection(path))
        await inside.send(
            b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
        )
        assert (await inside.answer()).body == b"ok\n"
        figures = (await inside.answer()).body.decode()
        assert 'codehub_proxy_requests_total{replica="proxy-1",status="200"} 1.0' in figures
        assert 'codehub_proxy_refusals_total{reason="bad_head",replica="proxy-1"} 1.0' in figures
        assert 'codehub_proxy_request_seconds_count{replica="proxy-1"} 1.0' in figures
        await inside.send(b"GET /secrets HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await inside.answer()).status == 404
        running.server.end(signal.SIGINT)
        await ended(running)
        client.close()
        inside.close()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=dev.test"
    names = ["-addext", "subjectAltName=DNS:*.dev.test", "-keyout", str(folder / "key"), "-out", str(folder / "cert")]
    subprocess.run([*command.split(), *names], check=True, capture_output=True)
    return folder


async def test_with_a_certificate_it_speaks_tls(listener: socket.socket, backend: Backend, certificate: Path) -> None:
    server_side = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server_side.load_cert_chain(certificate / "cert", certificate / "key")
    client_side = ssl.create_default_context(cafile=str(certificate / "cert"))
    running = Running(listener, backend, tls=server_side)
    await running.server.is_ready.wait()

    async def connect() -> Client:
        name = f"{running.workspace.decode()}.dev.test"
        return Client(*await asyncio.open_connection(*listener.getsockname(), ssl=client_side, server_hostname=name))

    client, tunnel = await connect(), await connect()
    for _ in range(2):
        await client.send(running.asked())
        assert (await client.answer()).body == b"ok"
    assert b"X-Forwarded-Proto: https" in backend.seen
    await tunnel.send(running.upgrade().replace(b"http://", b"https://"))
    assert (await tunnel.head()).status == 101
    await tunnel.send(b"x" * 100_000)
    tunnel.close()
    client.close()
    running.server.end(signal.SIGINT)
    await ended(running)
    assert b"x" * 100_000 in backend.seen
    for each in (tunnel, client):
        with suppress(ConnectionError, ssl.SSLError):
            await each.writer.wait_closed()
