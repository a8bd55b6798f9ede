"""The HTTP server, with an end that costs no request.

uvicorn closes idle connections as soon as it is asked to end, and a request that is just on its way there fails."""

import asyncio
import fcntl
import gc
import signal
import socket
import struct
import termios
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import Any

import structlog
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from codehub.clock import elapsed
from codehub.web.drain import Drain
from codehub.web.inside.door import Door
from codehub.web.own_socket import reached_alone

log = structlog.get_logger(__name__)

KEEP_ALIVE_SECONDS = 75
"""Longer than most clients and proxies keep a connection that is idle: who closes it is the one who knows."""
IDLE_SECONDS = 6.0
"""How long an idle connection may still bring a request; many clients give theirs up by themselves after 5 s."""
GRACE_SECONDS = 20.0
"""For requests under way. What takes longer is cut."""
LOOK_SECONDS = 0.05
NEW_OBJECTS = 20_000
"""Garbage is looked for after so many: about a hundred requests."""


class DrainingServer(uvicorn.Server):
    """SIGTERM drains: nothing is accepted any more, requests under way are answered, idle connections are given time
    for one more, which tells them to go. SIGINT, or a second signal, gives idle ones no time. No connection is closed
    whose last answer did not say so, except one that stays idle: its other side may have sent the next request."""

    def __init__(self, app: FastAPI, drain: Drain, alone: Path | None = None, inside: Door | None = None) -> None:
        """`alone` is where it makes a unix socket when it is ready, and takes it away as soon as it is to end; `inside`
        is where workspaces ask."""
        super().__init__(
            uvicorn.Config(
                app,
                loop="uvloop",
                http="httptools",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
            )
        )
        self._drain = drain
        self._alone = alone
        self._inside = inside
        self._hurries = False
        self._own: asyncio.Server | None = None
        self._exits = ExitStack()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        _spare_what_stays()
        if self._alone is not None:
            own = self._exits.enter_context(reached_alone(self._alone))
            self._own = await asyncio.get_running_loop().create_unix_server(self._connected, sock=own)
        if self._inside is not None:
            self.servers.append(await self._inside.open(self.server_state))

    def _connected(self) -> HttpToolsProtocol:
        return HttpToolsProtocol(self.config, self.server_state, self.lifespan.state)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._hurries = self._hurries or self.should_exit or sig == signal.SIGINT
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for listener in sockets or []:
            listener.close()
        if self._alone is not None:
            self._alone.unlink(missing_ok=True)
        self._drain.begin()
        began = elapsed()
        await asyncio.sleep(LOOK_SECONDS)  # whoever had found our own socket by then is let in
        while self.server_state.connections and elapsed() - began < GRACE_SECONDS:
            if self._hurries or elapsed() - began > IDLE_SECONDS:
                self._close_idle()
            await asyncio.sleep(LOOK_SECONDS)
        if self._own is not None:
            self._own.close()
        self._exits.close()
        if self.server_state.tasks:
            log.warning("requests cut", number=len(self.server_state.tasks))
        for task in self.server_state.tasks:
            task.cancel()
        await self.lifespan.shutdown()

    def _close_idle(self) -> None:
        for connection in list(self.server_state.connections):
            if isinstance(connection, HttpToolsProtocol) and _is_idle(connection) and not _has_unread(connection):
                connection.transport.close()


def _is_idle(connection: HttpToolsProtocol) -> bool:
    cycle: Any = connection.cycle  # none before the first request
    return cycle is None or cycle.response_complete


def _has_unread(connection: HttpToolsProtocol) -> bool:
    """Whether a request has arrived that this process has not looked at yet."""
    connected = connection.transport.get_extra_info("socket")
    if connected is None or connection.transport.is_closing():
        return False
    (number,) = struct.unpack("i", fcntl.ioctl(connected.fileno(), termios.FIONREAD, b"\0\0\0\0"))
    return bool(number)


def _spare_what_stays() -> None:
    """What is there by now, modules and routes most of all, stays until the end: to look through it for garbage again
    and again would hold requests up for tens of milliseconds each time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
