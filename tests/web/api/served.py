"""The application behind a real HTTP server. Clients in the same process would not do: they wait for the end."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

PATIENCE_SECONDS = 20.0


@asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[str]:
    """Its address, for as long as the block lasts. The lifespan is the caller's."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None, access_log=False))
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


@dataclass(frozen=True)
class Event:
    id: str
    name: str
    data: Any


@dataclass
class Reader:
    """Reads one stream, as a browser would."""

    answer: httpx.Response
    retry: int | None = None
    _lines: AsyncIterator[str] = field(init=False)

    def __post_init__(self) -> None:
        self._lines = self.answer.aiter_lines()

    async def next(self) -> Event | None:
        """The next event that is no heartbeat; None where the stream has ended."""
        while (event := await self.next_of_any_kind()) is not None and event.name == "heartbeat":
            pass
        return event

    async def next_of_any_kind(self) -> Event | None:
        fields: dict[str, str] = {}
        async with asyncio.timeout(PATIENCE_SECONDS):
            async for line in self._lines:
                if line:
                    name, _, value = line.partition(": ")
                    fields[name] = value
                elif "data" in fields:
                    return Event(fields["id"], fields["event"], json.loads(fields["data"]))
                elif "retry" in fields:
                    self.retry = int(fields.pop("retry"))
        return None

    async def expect(self, name: str) -> Any:  # noqa: ANN401 (whatever the event carries)
        event = await self.next()
        assert event is not None, f"the stream ended instead of {name}"
        assert event.name == name
        return event.data

    async def snapshot(self) -> list[dict[str, Any]]:
        """All parts of it, together."""
        found: list[dict[str, Any]] = []
        while True:
            data = await self.expect("snapshot")
            found = [*(found if data["part"] > 1 else []), *data["workspaces"]]
            if data["complete"]:
                return found


@asynccontextmanager
async def reading(address: str, secret: str, **params: str) -> AsyncIterator[Reader]:
    """A stream with this token."""
    headers = {"Authorization": f"Bearer {secret}"}
    async with (
        httpx.AsyncClient(base_url=address, timeout=PATIENCE_SECONDS, trust_env=False) as client,
        client.stream("GET", "/api/v1/events", headers=headers, params=params) as answer,
    ):
        assert answer.status_code == 200, await answer.aread()
        yield Reader(answer)
