"""The processes of the API, by the sockets that they make: one each, in a folder that is ours alone.

A process makes its socket when it is ready and takes it away before it ends, so that what is there answers. One that
was killed leaves its socket behind; that is found out by whoever wants to connect."""

import asyncio
import itertools
from dataclasses import dataclass
from pathlib import Path

from codehub.clock import elapsed
from codehub.model.conditions import Endpoint
from codehub.proxy.doorkeeper import Upstream

LOOK_SECONDS = 0.1
"""While nobody is there."""
WAIT_SECONDS = 10.0
"""How long a visitor waits for one to come back: longer than a process takes to start."""
DEAF_SECONDS = 1.0
"""One that could not be connected to is left alone for so long: it may only be overrun."""


@dataclass(slots=True)
class _Life:
    upstream: Upstream
    deaf_until: float = 0.0


class ApiSockets:
    """Sockets are named `replica.number.sock`, the number rising with each life: the newest of each name is used."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lives: dict[tuple[str, int], _Life] = {}
        self._turn = itertools.count()

    def look(self) -> None:
        """Find those that are there now. A socket that was made anew is another, whatever its name."""
        newest = {}
        for path in sorted(self._folder.glob("*.sock"), key=_number):
            try:
                newest[path.name.split(".")[0]] = (str(path), path.stat().st_ino)
            except FileNotFoundError:  # gone in this moment
                continue
        there = set(newest.values())
        for key in self._lives.keys() - there:
            self._lives.pop(key).upstream.is_over = True
        for name, number in there - self._lives.keys():
            self._lives[name, number] = _Life(Upstream(Endpoint(f"{name}:{number}", f"unix:{name}", 0)))

    def any(self) -> Upstream | None:
        """One of them, in turn; None while nobody is known to answer."""
        now = elapsed()
        hearing = [each.upstream for each in self._lives.values() if each.deaf_until < now]
        return hearing[next(self._turn) % len(hearing)] if hearing else None

    async def wait(self) -> Upstream | None:
        """One that can be connected to, as soon as there is one; None where that takes too long."""
        until = elapsed() + WAIT_SECONDS
        while elapsed() < until:
            self.look()
            for each in list(self._lives.values()):
                if await _hears(each.upstream):
                    each.deaf_until = 0.0
                    return each.upstream
            await asyncio.sleep(LOOK_SECONDS)
        return None

    def is_deaf(self, upstream: Upstream) -> None:
        """Nobody could be reached there."""
        for each in self._lives.values():
            if each.upstream is upstream:
                each.deaf_until = elapsed() + DEAF_SECONDS


async def _hears(upstream: Upstream) -> bool:
    try:
        _, writer = await asyncio.open_unix_connection(upstream.endpoint.address.removeprefix("unix:"))
    except OSError:
        return False
    writer.close()
    return True


def _number(path: Path) -> int:
    number = path.name.split(".")[1]
    return int(number) if number.isdecimal() else 0
