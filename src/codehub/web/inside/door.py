"""The socket that every workspace of this machine is shown. Whoever speaks there may be hostile: a connection ends
soon, and where there are too many the oldest makes room, so that nobody can keep the others out."""

import asyncio
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from codehub.model.inside import SOCKET

MOST_CONNECTIONS = 256
LONGEST_SECONDS = 30.0


@dataclass
class Door:
    """Of one process. Of several that open it the last one has it, as each of them does in its turn when it is
    replaced; whoever is killed is started again, and asked again by then."""

    app: FastAPI
    folder: Path
    _crowd: dict["_Connection", None] = field(default_factory=dict)
    """Those that are open, the oldest first."""

    async def open(self, state: ServerState) -> asyncio.Server:
        config = uvicorn.Config(
            self.app, http="httptools", log_config=None, access_log=False, server_header=False, proxy_headers=False
        )
        config.load()
        loop = asyncio.get_running_loop()
        return await loop.create_unix_server(self._connected(config, state), sock=self._bound())

    def _connected(self, config: uvicorn.Config, state: ServerState) -> Callable[[], "_Connection"]:
        return lambda: _Connection(config, state, self._crowd)

    def _bound(self) -> socket.socket:
        """Listening under its name from one moment to the next. By way of the folder's descriptor: a data folder may
        have a longer path than a socket can."""
        draft = f".{SOCKET}.{os.getpid()}"
        folder = os.open(self.folder, os.O_PATH | os.O_DIRECTORY)
        try:
            (self.folder / draft).unlink(missing_ok=True)
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(f"/proc/self/fd/{folder}/{draft}")
        finally:
            os.close(folder)
        (self.folder / draft).chmod(0o666)  # who reaches the folder is decided by whom it is shown to
        listener.listen(128)
        listener.setblocking(False)
        (self.folder / draft).rename(self.folder / SOCKET)
        return listener


class _Connection(HttpToolsProtocol):
    def __init__(self, config: uvicorn.Config, state: ServerState, crowd: dict["_Connection", None]) -> None:
        super().__init__(config, state, {})
        self._crowd = crowd
        self._end: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self._crowd) >= MOST_CONNECTIONS:
            next(iter(self._crowd)).give_way()
        self._crowd[self] = None
        self._end = self.loop.call_later(LONGEST_SECONDS, self.give_way)

    def give_way(self) -> None:
        self._crowd.pop(self, None)
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._crowd.pop(self, None)
        if self._end is not None:
            self._end.cancel()
        super().connection_lost(exc)
