"""A front door in this process, with a workspace `W` of Ann's, another one of hers, `W2`, and one of Eve's, `E`."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Self

from codehub.proxy.addresses import TrustedProxies
from codehub.proxy.everybody import Everybody
from codehub.proxy.front_door import FrontDoor
from codehub.proxy.limits import Limits
from tests.proxy.backend import Backend, Script, always_ok, running_backend
from tests.proxy.keeper import COOKIE, TableKeeper

ANN = b"ann"
EVE = b"eve"
SECONDS = 10.0


@dataclass
class Answer:
    status: int
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""

    def values(self, name: bytes) -> list[bytes]:
        return [value for each, value in self.headers if each == name]


class Client:
    """A visitor's connection, to the byte."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def connect(cls, address: tuple[str, int]) -> Self:
        return cls(*await asyncio.open_connection(*address, limit=2**22))

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def head(self) -> Answer:
        async with asyncio.timeout(SECONDS):
            line, *lines = (await self.reader.readuntil(b"\r\n\r\n"))[:-4].split(b"\r\n")
        headers = [(name.lower(), value.strip()) for name, _, value in (each.partition(b":") for each in lines)]
        return Answer(int(line.split()[1]), headers)

    async def answer(self, *, to_head: bool = False) -> Answer:
        """The next one with its body."""
        answer = await self.head()
        if to_head or answer.status < 200 or answer.status in (204, 304):
            return answer
        async with asyncio.timeout(SECONDS):
            if answer.values(b"transfer-encoding"):
                while not answer.body.endswith(b"0\r\n\r\n"):
                    answer.body += await self.reader.readuntil(b"\r\n")
            elif lengths := answer.values(b"content-length"):
                answer.body = await self.reader.readexactly(int(lengths[0]))
            else:
                answer.body = await self.reader.read()
        return answer

    async def exactly(self, number: int) -> bytes:
        async with asyncio.timeout(SECONDS):
            return await self.reader.readexactly(number)

    async def rest(self) -> bytes:
        """Whatever comes until the other side ends."""
        async with asyncio.timeout(SECONDS):
            try:
                return await self.reader.read()
            except ConnectionError:
                return b""

    def end(self) -> None:
        self.writer.write_eof()

    def close(self) -> None:
        self.writer.close()


@dataclass
class Scene:
    door: FrontDoor
    keeper: TableKeeper
    address: tuple[str, int]
    w: bytes
    w2: bytes
    e: bytes
    backend: Backend
    """Of `W` and `W2`."""
    foreign: Backend
    """Of `E`: nothing of Ann's may ever reach it."""
    stack: AsyncExitStack
    _clients: list[Client] = field(default_factory=list)

    def host(self, workspace: bytes | None = None) -> bytes:
        return (workspace or self.w) + b".dev.test"

    def lines(self, workspace: bytes | None = None, *more: bytes) -> bytes:
        """Host and cookie of a request of Ann's, and more header lines."""
        lines = [b"Host: " + self.host(workspace), b"Cookie: a=b; %b=ann-secret; c=d" % COOKIE, *more]
        return b"".join(line + b"\r\n" for line in lines)

    def get(self, target: bytes = b"/", *more: bytes) -> bytes:
        return b"GET %b HTTP/1.1\r\n%b\r\n" % (target, self.lines(None, *more))

    def post(self, body: bytes, *more: bytes) -> bytes:
        length = b"Content-Length: %d" % len(body)
        return b"POST / HTTP/1.1\r\n%b\r\n%b" % (self.lines(None, length, *more), body)

    def upgrade(self, *more: bytes) -> bytes:
        lines = (b"Connection: Upgrade", b"Upgrade: websocket", b"Origin: http://" + self.host())
        key = (b"Sec-WebSocket-Version: 13", b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
        return self.get(b"/socket", *lines, *key, *more)

    async def connect(self) -> Client:
        client = await Client.connect(self.address)
        self._clients.append(client)
        return client

    async def ask(self, data: bytes) -> Answer:
        """On a connection of its own."""
        client = await self.connect()
        await client.send(data)
        return await client.answer()

    async def tunnel(self) -> Client:
        client = await self.connect()
        await client.send(self.upgrade())
        assert (await client.head()).status == 101
        return client

    def pass_time(self, seconds: float) -> None:
        """The test owns the clock: nothing else moves it."""
        self.door.now += seconds
        self.door.sweep()

    async def add(self, name: str, owner: bytes, script: Script) -> tuple[bytes, Backend]:
        backend = await self.stack.enter_async_context(running_backend(script))
        return self.keeper.put(name, owner, backend.endpoint), backend

    async def close(self) -> None:
        for client in self._clients:
            client.close()
        self.door.everybody.abort()
        self.door.pool.close()
        await until(lambda: self.door.everybody.is_nobody)


async def until(condition: Callable[[], object], seconds: float = SECONDS) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.005)


@asynccontextmanager
async def opened(
    script: Script = always_ok, limits: Limits | None = None, trusted: tuple[str, ...] = ()
) -> AsyncIterator[Scene]:
    limits = limits or Limits()
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as tasks:
        backend = await stack.enter_async_context(running_backend(script))
        foreign = await stack.enter_async_context(running_backend(always_ok))
        keeper = TableKeeper()
        everybody = Everybody(limits.connections_per_address, TrustedProxies(trusted))
        door = FrontDoor(keeper, everybody, tasks, limits)
        server = await asyncio.get_running_loop().create_server(door, "127.0.0.1", 0)
        w, w2 = (keeper.put(name, ANN, backend.endpoint) for name in ("w", "w2"))
        e = keeper.put("e", EVE, foreign.endpoint)
        scene = Scene(door, keeper, server.sockets[0].getsockname(), w, w2, e, backend, foreign, stack)
        try:
            yield scene
        finally:
            server.close()
            await scene.close()
