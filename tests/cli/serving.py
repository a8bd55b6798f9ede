"""A whole server for the tests of commands: `codehub serve` with its coordinators, and a small IDE to run."""

import asyncio
import contextlib
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg
import httpx
from fastapi import FastAPI

from codehub.images.tools import CODE_SERVER
from codehub.model.accounts import Role, Scope
from codehub.runtimes.local.runtime import LocalRuntime
from codehub.store.identity import installation_id
from tests.cli.command import Command
from tests.faults.serving import DIES_WITH_US, QUICK
from tests.stack.installation import COMMAND
from tests.web.api.people import PASSWORD, People

START_SECONDS = 60.0


@dataclass(frozen=True)
class Served:
    url: str
    database_url: str
    data: Path


@dataclass(frozen=True)
class Person:
    """Somebody with an account and a token, at a machine of their own."""

    login: str
    token: str = field(repr=False)
    server: Served
    codehub: Command
    """Logged in by the environment, as programs are."""

    @property
    def logged_out(self) -> Command:
        return Command(self.codehub.folder)

    async def open_session(self) -> None:
        """In a browser that stays logged in."""
        body = {"login": self.login, "password": PASSWORD}
        async with httpx.AsyncClient(base_url=self.server.url, trust_env=False, timeout=30) as browser:
            (await browser.post("/api/v1/auth/login", json=body)).raise_for_status()

    async def execute(self, statement: str, *arguments: object) -> None:
        """Change what no command can."""
        connection = await asyncpg.connect(self.server.database_url)
        try:
            await connection.execute(statement, *arguments)
        finally:
            await connection.close()


def install_small_ide(data: Path) -> None:
    program = data / "ide" / f"code-server-{CODE_SERVER.release}" / "bin" / "node"
    program.parent.mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("small_ide.py"), program)
    program.chmod(0o755)


@contextmanager
def served(database_url: str, redis_url: str, folder: Path) -> Iterator[Served]:
    """One process for as long as the block lasts, and nothing left of its workspaces afterwards."""
    data = folder / "data"
    data.mkdir(mode=0o711)
    install_small_ide(data)
    log = folder / "serve.log"
    with socket.create_server(("127.0.0.1", 0)) as listener, log.open("wb") as written:
        process = subprocess.Popen(
            [*DIES_WITH_US, COMMAND, "serve", "--roles", "api,coordinators", "--fd", str(listener.fileno())],
            env={
                "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                "HOME": str(folder),
                "CODEHUB_DATA_DIR": str(data),
                "DATABASE_URL": database_url,
                "REDIS_URL": redis_url,
                "REDIS_CHANNEL_SSE_PREFIX": f"{folder.name}:sse",
                "REDIS_CHANNEL_WAKE_PREFIX": f"{folder.name}:wake",
                "REDIS_CHANNEL_ACTIVITY_PREFIX": f"{folder.name}:activity",
                "REDIS_CHANNEL_USAGE_PREFIX": f"{folder.name}:usage",
                "COORDINATOR_USAGE_INTERVAL": "0.5",
                "RUNTIME": "local",
                "RUNTIME_PREPARE": "false",
                "CODEHUB_LOG_FORMAT": "json",
                **QUICK,
            },
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=written,
            pass_fds=[listener.fileno()],
        )
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            _until_it_offers_an_ide(database_url, process, log)
            yield Served(url, database_url, data)
        finally:
            process.terminate()
            process.wait(timeout=30)
            asyncio.run(clear(database_url, data))


def _until_it_offers_an_ide(database_url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not asyncio.run(is_offered(database_url)):
        assert process.poll() is None, log.read_text()[-2000:]
        assert time.monotonic() < deadline, log.read_text()[-2000:]
        time.sleep(0.1)


async def is_offered(database_url: str) -> bool:
    """Whether a workspace can be made."""
    connection = await asyncpg.connect(database_url)
    try:
        return bool(await connection.fetchval("SELECT status = 'ready' FROM templates WHERE name = 'code-server'"))
    finally:
        await connection.close()


async def clear(database_url: str, data: Path) -> None:
    """Nothing is left of what an installation without an engine has made."""
    runtime = LocalRuntime(data, await installation_id(database_url), lambda _: None)
    for instance in await runtime.instances.list():
        await runtime.instances.stop(instance.id, 0)
    for job in await runtime.jobs.list():
        await runtime.jobs.remove(job.name)
    for volume in await runtime.volumes.list():
        await runtime.volumes.delete(volume.name)
    await runtime.close()


@contextlib.asynccontextmanager
async def people(server: Served) -> AsyncIterator[People]:
    async with asyncpg.create_pool(server.database_url, min_size=0, max_size=2) as pool:
        yield People(FastAPI(), pool, contextlib.AsyncExitStack())


async def person(server: Served, folder: Path, role: Role = Role.USER) -> Person:
    """With a login that no other test uses."""
    async with people(server) as everybody:
        user = await everybody.user(f"{role}-{secrets.token_hex(4)}", role, password=PASSWORD)
        token = await everybody.token(user, Scope.ADMIN if role is Role.ADMIN else Scope.WORKSPACES)
    variables = {"CODEHUB_SERVER": server.url, "CODEHUB_TOKEN": token.value}
    return Person(user.login, token.value, server, Command(folder, variables))
