"""An address in front of a real server that can be taken away and brought back: what tests build trouble on."""

import asyncio
from abc import ABC, abstractmethod
from typing import Self


class Relay(ABC):
    """`carry` of a subclass serves each connection. `close` cuts them all and takes no new ones, until `open`."""

    def __init__(self) -> None:
        self._server: asyncio.Server | None = None
        self._carried: set[asyncio.Task[None]] = set()
        self.port = 0

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        """At the same address as before."""
        self._server = await asyncio.start_server(self._taken, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        while self._carried:  # one that was accepted in this moment joins them a turn of the loop later
            for each in self._carried:
                each.cancel()
            await asyncio.wait(self._carried)
            await asyncio.sleep(0)

    @abstractmethod
    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Until one of both has had enough."""

    async def _taken(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._carried.add(task)
        task.add_done_callback(self._carried.discard)
        try:
            await self.carry(reader, writer)
        finally:
            writer.close()
