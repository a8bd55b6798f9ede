"""All that answers people: the API, and the front door before it, which has the public address."""

import asyncio
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codehub.settings import Settings
from codehub.stack.account import Account
from codehub.stack.data_folder import DataFolder
from codehub.stack.parts import Changed, Kept
from codehub.stack.public import listened_on, told_url
from codehub.stack.replicas import Replicas
from codehub.stack.serve import Serve

DOORS = "proxy"
"""The folder for the own sockets of the front door, beside those of the API."""


@dataclass(frozen=True)
class Answerers:
    """The patterns that processes are made after, and how many of each."""

    url: str
    """Where people find them."""
    api: Serve
    door: Serve
    replicas: int
    doors: int


def answerers(
    settings: Settings,
    folder: DataFolder,
    account: Account,
    listener: socket.socket,
    sockets: Path,
    spelled_out: Mapping[str, str],
) -> Answerers:
    """Children are told the address that is really listened on: they name it to people, and do not bind it."""
    told = {**spelled_out, "CODEHUB_LISTEN": listened_on(listener)}
    logs = folder.logs
    api = ("--roles", "api,coordinators")
    door = ("--roles", "proxy", "--api-sockets", str(sockets))
    return Answerers(
        url=told_url(settings, listener),
        api=Serve("serve", folder.path, account, api, None, sockets / "serve.sock", told, logs / "serve.log"),
        door=Serve(
            "proxy", folder.path, account, door, listener, sockets / DOORS / "proxy.sock", told, logs / "proxy.log"
        ),
        replicas=settings.codehub.replicas,
        doors=settings.proxy.count,
    )


class Answering:
    def __init__(self, made_after: Answerers, changed: Changed, *, hurry: asyncio.Event) -> None:
        self._api = Replicas(made_after.api, made_after.replicas, changed, hurry=hurry)
        self._doors = Replicas(made_after.door, made_after.doors, changed, hurry=hurry)

    @property
    def parts(self) -> Sequence[Kept]:
        return [*self._api.parts, *self._doors.parts]

    async def start(self, begin: Callable[[Kept], None]) -> None:
        """Both at once: a front door waits for an API that is not there yet."""
        await asyncio.gather(self._api.start(begin), self._doors.start(begin))

    async def roll(self, begin: Callable[[Kept], None]) -> None:
        """First what is behind the front door: nobody outside is connected to that."""
        await self._api.roll(begin)
        await self._doors.roll_together(begin)

    async def stop(self) -> None:
        """Nobody comes in any more, then what they asked for ends too."""
        await self._doors.stop()
        await self._api.stop()
