"""What one API process answers: one workspace, a list of twenty and a change, over 32 connections; and, side by side on
the same machine, what JupyterHub's hub answers when it is asked for a user.

Run it on a quiet machine: python -m benchmarks.api [--seconds 10] [--connections 32]
The first run installs JupyterHub into `~/.cache/codehub-benchmarks`."""

import asyncio
import json
import os
import secrets
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx
from benchmarks import jupyterhub
from benchmarks.stage import Figure, Ground, arguments, ground, percentile, progress, run
from tests.folders import short_folder

from codehub.store.callers import hashed
from codehub.web.callers import TOKEN_PREFIX

ROOT = "/api/v1/workspaces"
TWENTY = 20
START_SECONDS = 30
WARM_UP_SECONDS = 1


@dataclass(frozen=True)
class Load:
    per_second: float
    p99_ms: float
    cpu_ms: float
    """Of the server's process, for each request."""


@dataclass(frozen=True)
class Server:
    port: int
    pid: int

    async def under(self, request: bytes, options: "Options") -> Load:
        await self._load(request, options.connections, WARM_UP_SECONDS)
        cpu = self._cpu_seconds()
        seen = await self._load(request, options.connections, options.seconds)
        count = len(seen["latencies"])
        if set(seen["statuses"]) != {"200"}:
            sys.exit(f"not only successes: {seen['statuses']}")
        return Load(
            per_second=count / seen["seconds"],
            p99_ms=percentile(seen["latencies"], 0.99) * 1000,
            cpu_ms=(self._cpu_seconds() - cpu) / count * 1000,
        )

    async def _load(self, request: bytes, connections: int, seconds: int) -> dict[str, Any]:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "benchmarks.http_load", str(self.port), str(connections), str(seconds)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        output, _ = await process.communicate(request)
        found: dict[str, Any] = json.loads(output)
        return found

    def _cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Options:
    seconds: int
    connections: int


@dataclass(frozen=True)
class Somebody:
    token: str
    workspace_id: UUID


async def somebody_with_workspaces(database_url: str) -> Somebody:
    token, user, template, first = TOKEN_PREFIX + secrets.token_urlsafe(32), uuid4(), uuid4(), uuid4()
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute("INSERT INTO users (id, login, password_hash) VALUES ($1, 'ada', '!')", user)
        await connection.execute(
            "INSERT INTO api_tokens (id, user_id, name, secret_hash, hint, scopes)"
            " VALUES ($1, $2, 'benchmark', $3, '', '{workspaces}')",
            *(uuid4(), user, hashed(token)),
        )
        await connection.execute(
            "INSERT INTO templates (id, name, image_ref, status, port) VALUES ($1, 'ide', 'ide', 'ready', 80)", template
        )
        for number in range(TWENTY):
            await connection.execute(
                "INSERT INTO workspaces (id, owner_user_id, name, description, template_id, desired_state, phase)"
                " VALUES ($1, $2, $3, 'One of twenty', $4, 'STANDBY', 'STANDBY')",
                *(uuid4() if number else first, user, f"workspace {number}", template),
            )
        await connection.execute("VACUUM ANALYZE")
    finally:
        await connection.close()
    return Somebody(token, first)


@asynccontextmanager
async def serving(grounds: Ground, folder: Path) -> AsyncIterator[Server]:
    port = jupyterhub.free_port()
    variables = {
        "DATABASE_URL": grounds.database_url,
        "REDIS_URL": grounds.redis_url,
        "CODEHUB_DATA_DIR": str(folder / "data"),
        "HOME": str(folder),
        "PATH": os.environ["PATH"],
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "codehub", "serve", "--roles", "api", "--listen", f"127.0.0.1:{port}"),
        env=variables,
    )
    try:
        async with asyncio.timeout(START_SECONDS), httpx.AsyncClient() as client:
            while not await _answers(client, port):
                await asyncio.sleep(0.1)
        yield Server(port, process.pid)
    finally:
        process.terminate()
        await process.wait()


async def _answers(client: httpx.AsyncClient, port: int) -> bool:
    try:
        return (await client.get(f"http://127.0.0.1:{port}/healthz")).status_code == 200
    except httpx.TransportError:
        return False


def request(method: str, path: str, authorization: str, body: str = "") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n"
    if body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return f"{head}\r\n{body}".encode()


async def measure(options: Options) -> Sequence[Figure]:
    environment = Path.home() / ".cache" / "codehub-benchmarks" / "jupyterhub"
    await jupyterhub.installed(environment)
    with short_folder() as folder:
        async with ground() as grounds, serving(grounds, folder) as server:
            figures = await _ours(server, await somebody_with_workspaces(grounds.database_url), options)
        progress("JupyterHub: GET a user")
        async with jupyterhub.hub(environment, folder) as hub:
            theirs = await Server(hub.port, hub.pid).under(
                request("GET", jupyterhub.PATH, f"token {jupyterhub.TOKEN}"), options
            )
    ours = figures[0].measured
    return [
        *figures,
        Figure("JupyterHub, a user: answers", theirs.per_second, "/s"),
        Figure("JupyterHub, a user: p99", theirs.p99_ms, "ms"),
        Figure("JupyterHub, a user: processor time each", theirs.cpu_ms, "ms"),
        Figure("one workspace, times what JupyterHub answers", ours / theirs.per_second, "x", at_least=10),
    ]


async def _ours(server: Server, somebody: Somebody, options: Options) -> list[Figure]:
    bearer = f"Bearer {somebody.token}"
    one = f"{ROOT}/{somebody.workspace_id}"
    asked = {
        "one workspace": (request("GET", one, bearer), 1500),
        "a list of twenty": (request("GET", f"{ROOT}?limit={TWENTY}", bearer), 800),
        "a change": (request("PATCH", one, bearer, '{"memo": "Written by a benchmark, again and again"}'), 500),
    }
    figures = []
    for what, (sent, at_least) in asked.items():
        progress(what)
        load = await server.under(sent, options)
        figures += [
            Figure(f"{what}: answers", load.per_second, "/s", at_least=at_least),
            Figure(f"{what}: p99", load.p99_ms, "ms", at_most=50),
            Figure(f"{what}: processor time each", load.cpu_ms, "ms"),
        ]
    return figures


if __name__ == "__main__":
    given = arguments(__doc__, seconds=10, connections=32)
    run(measure(Options(given.seconds, given.connections)))
