"""A process of the front door: listens on sockets that its parent owns, until it is told to end."""

import asyncio
import gc
import resource
import signal
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from codehub.proxy.addresses import TrustedProxies
from codehub.proxy.doorkeeper import Doorkeeper, Visits
from codehub.proxy.drain import drain
from codehub.proxy.everybody import Everybody
from codehub.proxy.figures import OwnDoor
from codehub.proxy.front_door import FrontDoor
from codehub.proxy.limits import Limits

log = structlog.get_logger(__name__)

TICK_SECONDS = 0.1
TICKS_PER_SWEEP = 10
SWEEPS_PER_COLLECTION = 60
DRAIN_SECONDS = 20.0

Doorkeeping = Callable[[Visits], AbstractAsyncContextManager[Doorkeeper]]
"""A doorkeeper for as long as the process serves; it is given the visits that it may have to cut."""


@dataclass(frozen=True)
class Serving:
    """What a process listens on, and how it is to behave."""

    listeners: Sequence[socket.socket]
    own: socket.socket | None = None
    """A unix socket on which this process alone answers: `/metrics` and `/healthz`."""
    tls: ssl.SSLContext | None = None
    limits: Limits = field(default_factory=Limits)
    trusted: TrustedProxies = field(default_factory=lambda: TrustedProxies(()))
    scheme: bytes = b"http"
    drain_seconds: float = DRAIN_SECONDS


class Server:
    """SIGTERM drains: idle connections are given time for one more request, WebSockets stay until the end of it.
    SIGINT, or a second signal, waits for requests under way only."""

    def __init__(self, serving: Serving, doorkeeping: Doorkeeping) -> None:
        self._serving = serving
        self._doorkeeping = doorkeeping
        self._ends = asyncio.Event()
        self._hurries = asyncio.Event()
        self.is_ready = asyncio.Event()

    def end(self, number: int) -> None:
        if number == signal.SIGINT or self._ends.is_set():
            self._hurries.set()
        self._ends.set()

    async def serve(self) -> None:
        serving = self._serving
        everybody = Everybody(serving.limits.connections_per_address, serving.trusted)
        async with self._doorkeeping(everybody) as doorkeeper, asyncio.TaskGroup() as tasks:
            door = FrontDoor(doorkeeper, everybody, tasks, serving.limits, serving.scheme)
            async with _kept_time(door, tasks), _own_door(door, serving.own, tasks):
                async with _listening(door, serving):
                    self.is_ready.set()
                    await self._ends.wait()
                log.info("drains", connections=len(everybody.visitors), tunnels=len(everybody.tunnels))
                await drain(door, serving.drain_seconds, self._hurries)


@asynccontextmanager
async def _listening(door: FrontDoor, serving: Serving) -> AsyncIterator[None]:
    loop = asyncio.get_running_loop()
    timeout = serving.limits.head_seconds if serving.tls else None
    servers = [
        await loop.create_server(door, sock=each, ssl=serving.tls, ssl_handshake_timeout=timeout)
        for each in serving.listeners
    ]
    try:
        yield
    finally:
        for server in servers:
            server.close()


@asynccontextmanager
async def _own_door(door: FrontDoor, own: socket.socket | None, tasks: asyncio.TaskGroup) -> AsyncIterator[None]:
    if own is None:
        yield
        return
    everybody = Everybody(door.limits.connections_per_address, TrustedProxies(()))
    replica = Path(own.getsockname()).name.partition(".")[0]
    own_door = FrontDoor(OwnDoor(door, replica), everybody, tasks, door.limits)
    server = await asyncio.get_running_loop().create_unix_server(own_door, sock=own)
    async with _kept_time(own_door, tasks):
        try:
            yield
        finally:
            server.close()
            everybody.abort()


@asynccontextmanager
async def _kept_time(door: FrontDoor, tasks: asyncio.TaskGroup) -> AsyncIterator[None]:
    ticking = tasks.create_task(_tick(door), name="the time of the front door")
    try:
        yield
    finally:
        ticking.cancel()


async def _tick(door: FrontDoor) -> None:
    """Keep the time, and once a second look for what has taken too long."""
    requests, ticks = 0, 0
    while True:
        await asyncio.sleep(TICK_SECONDS)
        ticks += 1
        door.tick()
        if ticks % TICKS_PER_SWEEP == 0:
            door.sweep()
        if ticks >= TICKS_PER_SWEEP * SWEEPS_PER_COLLECTION and door.counts.requests == requests:
            ticks = 0
            gc.collect()
        requests = door.counts.requests


def spare_what_stays() -> None:
    """Garbage is looked for when nobody asks for anything: with thousands of connections a look takes 50 ms, and what a
    connection leaves behind goes by itself."""
    gc.collect()
    gc.freeze()
    gc.disable()


def allow_many_files() -> None:
    """Each WebSocket takes two descriptors; what a shell allows by default is for people."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def run(serving: Serving, doorkeeping: Doorkeeping) -> None:
    """Serve in this process until SIGTERM or SIGINT, on uvloop."""
    import uvloop

    async def serve() -> None:
        server = Server(serving, doorkeeping)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, server.end, number)
        spare_what_stays()
        await server.serve()

    allow_many_files()
    uvloop.run(serve())
