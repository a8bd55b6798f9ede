"""People who use codehub while it is restarted: `python -m tests.stack.load URL TOKEN WORKSPACE`, a program of its own.

It works until its input ends and then tells, as JSON, every request that failed and what the readers of events know."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import httpx

SETTLE_SECONDS = 30.0


@dataclass
class Reader:
    """Somebody who watches a workspace live, and connects again whenever the stream ends."""

    connections: int = 0
    events: int = 0
    begun_without_snapshot: int = 0
    description: str = ""

    def hear(self, event: str, data: dict[str, Any], workspace_id: str) -> None:
        self.events += 1
        shown = data["workspaces"] if event == "snapshot" else [data]
        for workspace in shown:
            if workspace.get("id") == workspace_id and "description" in workspace:
                self.description = workspace["description"]


@dataclass
class Load:
    url: str
    token: str
    workspace_id: str
    answers: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    readers: list[Reader] = field(default_factory=lambda: [Reader(), Reader()])
    written: int = 0

    async def run(self, over: asyncio.Event) -> None:
        path = f"/api/v1/workspaces/{self.workspace_id}"
        async with self._client() as kept, self._client(headers={"Connection": "close"}) as fresh:
            users = [
                *(self._keep_on(lambda: kept.get(path), over, 0.01) for _ in range(4)),
                *(self._keep_on(lambda: fresh.get("/api/v1/workspaces"), over, 0.02) for _ in range(2)),
                self._keep_on(lambda: kept.post(f"{path}/stop"), over, 0.05),
                self._rarely(path, over),
                self._write(path, over),
            ]
            reading = [asyncio.create_task(self._read(reader)) for reader in self.readers]
            await asyncio.gather(*users)
            await self._until_all_know()
            for task in reading:
                task.cancel()
            await asyncio.wait(reading)

    def _client(self, **options: Any) -> httpx.AsyncClient:  # noqa: ANN401
        headers = {"Authorization": f"Bearer {self.token}"} | options.pop("headers", {})
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=30, trust_env=False)

    async def _keep_on(self, ask: Callable[[], Awaitable[httpx.Response]], over: asyncio.Event, pause: float) -> None:
        while not over.is_set():
            await self._one(ask)
            await asyncio.sleep(pause)

    async def _rarely(self, path: str, over: asyncio.Event) -> None:
        """Connections that lie idle for a while are used again, in the middle of a restart too."""
        async with self._client() as idle:
            for pause in (number % 7 / 2 for number in range(10_000)):
                await self._one(lambda: idle.get(path))
                if over.is_set():
                    return
                await asyncio.sleep(pause)

    async def _write(self, path: str, over: asyncio.Event) -> None:
        async with self._client() as writer:
            while not over.is_set():
                self.written += 1
                words = {"description": f"version {self.written}"}
                await self._one(lambda words=words: writer.patch(path, json=words))  # type: ignore[misc]
                await asyncio.sleep(0.05)

    async def _one(self, ask: Callable[[], Awaitable[httpx.Response]]) -> None:
        try:
            answer = await ask()
        except httpx.HTTPError as error:
            self.failures.append(repr(error))
            return
        kind = f"{answer.request.method} {answer.status_code}"
        self.answers[kind] = self.answers.get(kind, 0) + 1
        if not answer.is_success:
            self.failures.append(f"{answer.status_code} {answer.text}")

    async def _read(self, reader: Reader) -> None:
        async with self._client() as client:
            while True:
                reader.connections += 1
                try:
                    async with client.stream("GET", "/api/v1/events") as stream:
                        await self._follow(stream, reader)
                except httpx.HTTPError as error:
                    self.failures.append(f"stream: {error!r}")
                await asyncio.sleep(0.05)

    async def _follow(self, stream: httpx.Response, reader: Reader) -> None:
        event, is_first = "", True
        async for line in stream.aiter_lines():
            name, _, value = line.partition(": ")
            if name == "event":
                event = value
            elif name == "data":
                reader.begun_without_snapshot += is_first and event != "snapshot"
                is_first = False
                reader.hear(event, json.loads(value), self.workspace_id)

    async def _until_all_know(self) -> None:
        try:
            async with asyncio.timeout(SETTLE_SECONDS):
                while any(reader.description != f"version {self.written}" for reader in self.readers):
                    await asyncio.sleep(0.05)
        except TimeoutError:
            self.failures.append("a reader does not know the last state")


async def main() -> None:
    url, token, workspace_id = sys.argv[1:]
    load, over = Load(url, token, workspace_id), asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin, over.set)
    await load.run(over)
    told = {key: value for key, value in asdict(load).items() if key != "token"}
    print(json.dumps(told))  # noqa: T201 (what it is asked for)


if __name__ == "__main__":
    asyncio.run(main())
