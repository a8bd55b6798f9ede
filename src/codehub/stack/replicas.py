"""Processes that stand in for each other, and how each is replaced without anybody noticing."""

import asyncio
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

from codehub.errors import CodehubError
from codehub.stack.parts import Changed, Kept
from codehub.stack.serve import Serve


class Replicas:
    """As many lives of `serve` as are wanted, each under a name of its own and kept by a part of its own."""

    def __init__(self, serve: Serve, count: int, changed: Changed, *, hurry: asyncio.Event) -> None:
        self._serve = serve
        self._names = [serve.name] if count == 1 else [f"{serve.name}-{number}" for number in range(1, count + 1)]
        self._changed = changed
        self._hurry = hurry
        self._lives = itertools.count(1)
        self._kept: list[Kept] = []
        self._others: list[Kept] = []  # a successor that is not ready yet, a predecessor that is going

    @property
    def parts(self) -> Sequence[Kept]:
        return [*self._kept, *self._others]

    async def start(self, begin: Callable[[Kept], None]) -> None:
        """Begin all of them; return when each is ready, raise what made one impossible."""
        self._forget_earlier_lives()
        self._kept = [self._life(name) for name in self._names]
        for kept in self._kept:
            begin(kept)
        await asyncio.gather(*(kept.started for kept in self._kept))

    async def stop(self) -> None:
        await asyncio.gather(*(part.stop() for part in self.parts))

    async def roll(self, begin: Callable[[Kept], None]) -> None:
        """Replace each, one after the other: the next life is ready before the one before it drains and ends.

        Raises the ServiceError of a next life that could not be started; the one before it goes on.
        """
        for place in range(len(self._names)):
            await self._replace(place, begin)

    async def roll_together(self, begin: Callable[[Kept], None]) -> None:
        """As `roll`, but at the same time: where draining takes long and costs little."""
        replaced = (self._replace(place, begin) for place in range(len(self._names)))
        for failure in await asyncio.gather(*replaced, return_exceptions=True):
            if failure is not None:
                raise failure

    async def _replace(self, place: int, begin: Callable[[Kept], None]) -> None:
        before, after = self._kept[place], self._life(self._names[place])
        self._others.append(after)
        begin(after)
        try:
            await after.started
        except CodehubError:
            self._others.remove(after)
            raise
        self._kept[place] = after
        self._others[self._others.index(after)] = before
        await before.retire(self._serve.drain_signal, self._serve.drain_seconds)
        self._others.remove(before)

    def _forget_earlier_lives(self) -> None:
        """A supervisor that was killed leaves the sockets of its replicas behind. Ours are numbered from 1 again: what
        has a higher number would be taken for newer, and nobody would ever be asked who answers."""
        for left in self._serve.own_socket.parent.glob(f"{self._serve.name}*.sock"):
            left.unlink()

    def _life(self, name: str) -> Kept:
        own_socket = self._serve.own_socket.with_name(f"{name}.{next(self._lives)}.sock")
        service = replace(self._serve, name=name, own_socket=own_socket, log=self._serve.log.with_name(f"{name}.log"))
        return Kept(service, self._changed, hurry=self._hurry)
