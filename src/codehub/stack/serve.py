"""What answers people, as children of the supervisor: the front door on the public socket, which the supervisor owns,
and the API behind it."""

import asyncio
import os
import signal
import socket
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codehub.stack.account import Account
from codehub.telemetry.health import Check, Unfit, examine


@dataclass(frozen=True)
class Serve:
    """One life of a replica. It runs as whoever runs the supervisor: the installation may lie in a private home, which
    nobody else can enter."""

    name: str
    folder: Path
    account: Account
    options: Sequence[str]
    """Which roles it has, and what those need."""
    listener: socket.socket | None
    """The public socket, for those who answer there."""
    own_socket: Path
    """Where this life alone is reached: on the listener any of the replicas may answer."""
    settings: Mapping[str, str] = field(repr=False)
    log: Path

    stop_signal = signal.SIGINT  # with what is under way; nobody takes the place of idle connections
    stop_seconds = 25.0
    drain_signal = signal.SIGTERM  # also with what idle connections may still bring
    drain_seconds = 30.0
    death_signal = signal.SIGKILL  # it keeps nothing that could be lost

    @property
    def inherited(self) -> Sequence[int]:
        return (self.listener.fileno(),) if self.listener is not None else ()

    def prepare(self) -> None:
        """Nothing of its own but the folder of its socket: all else, the parts before it have made."""
        self.own_socket.parent.mkdir(mode=0o700, exist_ok=True)

    def argv(self) -> Sequence[str]:
        command = Path(sysconfig.get_path("scripts")) / "codehub"
        public = ["--fd", str(self.listener.fileno())] if self.listener is not None else ["--behind-front-door"]
        return [str(command), "serve", *self.options, *public, "--own-socket", str(self.own_socket)]

    def environment(self) -> Mapping[str, str]:
        """The person's own, with every setting spelled out: the child must not read another `.env` than its parent."""
        return {**os.environ, **self.settings}

    async def check(self) -> Check:
        return await examine(self.name, self._ask())

    async def _ask(self) -> str:
        try:
            reader, writer = await asyncio.open_unix_connection(self.own_socket)
        except (FileNotFoundError, ConnectionRefusedError) as error:
            raise Unfit("does not answer yet") from error
        try:
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            status = (await reader.readline()).decode("latin-1").strip()
        finally:
            writer.close()
        if " 200 " not in f"{status} ":
            raise Unfit(f"answered {status!r}")
        return "answers"
