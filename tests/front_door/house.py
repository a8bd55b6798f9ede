"""A whole `codehub serve` for the tests of the front door: its processes are real, and so is what runs behind it."""

import asyncio
import contextlib
import json
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import httpx
from fastapi import FastAPI

from codehub.decide.origins import Origins
from codehub.images.tools import CODE_SERVER
from codehub.model.accounts import Role
from codehub.stack.account import current_account
from codehub.stack.data_folder import DataFolder
from tests.cli.serving import clear, is_offered
from tests.coordinators.house import until
from tests.faults.serving import DIES_WITH_US, QUICK
from tests.front_door.browser import Browser
from tests.stack.installation import COMMAND
from tests.web.api.people import PASSWORD, People, User

START_SECONDS = 90.0
SECONDS = 60.0
IDLE_SOON = {"ACTIVITY_FLUSH_INTERVAL": "1", "COORDINATOR_TTL_INTERVAL": "1"}
"""For workspaces with an idle time of seconds; all others have that of their house."""


@dataclass(frozen=True)
class House:
    address: tuple[str, int]
    database_url: str
    data: Path
    environment: dict[str, str]

    @property
    def url(self) -> str:
        return f"{'http' if self.tls is None else 'https'}://{self.address[0]}:{self.address[1]}"

    @property
    def tls(self) -> ssl.SSLContext | None:
        """That trusts its certificate, where it has one."""
        certificate = self.environment.get("PROXY_CERTIFICATE")
        return ssl.create_default_context(cafile=certificate) if certificate is not None else None

    def part(self, name: str) -> dict[str, Any]:
        """What the supervisor says of one of its children."""
        parts = json.loads((self.data / "state.json").read_text())["parts"]
        return next(part for part in parts if part["name"] == name)

    def browser(self, **headers: str) -> Browser:
        """Of somebody who has never been here."""
        said = self.environment
        public = said.get("CODEHUB_PUBLIC_URL", self.url)
        origins = Origins(public, said.get("PROXY_DOMAIN", "localhost"), said.get("PROXY_ORIGIN"))
        return Browser(self.address, origins, headers, tls=self.tls)

    @contextlib.asynccontextmanager
    async def people(self) -> AsyncIterator[People]:
        async with asyncpg.create_pool(self.database_url, min_size=0, max_size=2) as pool:
            yield People(FastAPI(), pool, contextlib.AsyncExitStack())

    async def person(self, **columns: Any) -> "Person":  # noqa: ANN401 (as the table has them)
        async with self.people() as everybody:
            user = await everybody.user(role=Role.USER, password=PASSWORD, **columns)
            token = await everybody.token(user)
        return Person(self, user, token.id, token.value)

    async def fetchval(self, statement: str, *arguments: object) -> Any:  # noqa: ANN401 (whatever it is)
        connection = await asyncpg.connect(self.database_url)
        try:
            return await connection.fetchval(statement, *arguments)
        finally:
            await connection.close()


@dataclass(frozen=True)
class Person:
    house: House
    user: User
    token_id: UUID
    token: str = field(repr=False)

    @property
    def bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    async def call(self, method: str, path: str, body: object = None) -> httpx.Response:
        """The API, as a program does."""
        house, named = self.house, {"sni_hostname": self.house.browser().origins.public_host}
        async with httpx.AsyncClient(
            base_url=house.url, trust_env=False, timeout=30, verify=house.tls or True
        ) as client:
            return await client.request(method, f"/api/v1{path}", json=body, headers=self.bearer, extensions=named)

    async def workspace(self, name: str = "garden", *, running: bool = True, template: str = "code-server") -> UUID:
        """A new one, at rest in what was wished."""
        wished = "RUNNING" if running else "STANDBY"
        made = await self.call("POST", "/workspaces", {"name": name, "template": template, "desired_state": wished})
        assert made.status_code == 201, made.text
        workspace_id = UUID(made.json()["id"])
        await self.until_phase(workspace_id, wished)
        return workspace_id

    async def until_phase(self, workspace_id: UUID, phase: str, seconds: float = SECONDS) -> None:
        query = "SELECT true FROM workspaces WHERE id = $1 AND phase = $2 AND operation = 'NONE'"

        async def reached() -> bool | None:
            found: bool | None = await self.house.fetchval(query, workspace_id, phase)
            return found

        await until(reached, seconds)

    async def make_drowsy(self, workspace_id: UUID, seconds: int) -> None:
        """Only now let it sleep that soon: whoever made it was not too slow for that."""
        changed = await self.call("PATCH", f"/workspaces/{workspace_id}", {"standby_after_seconds": seconds})
        assert changed.status_code == 200, changed.text

    async def until_idle(self, workspace_id: UUID) -> None:
        """Somebody has found that nobody uses it, and it was put to sleep for that."""
        query = "SELECT true FROM workspaces WHERE id = $1 AND desired_state = 'STANDBY' AND desired_reason = 'idle'"

        async def is_idle() -> bool | None:
            found: bool | None = await self.house.fetchval(query, workspace_id)
            return found

        await until(is_idle, 2 * SECONDS)

    async def log_in(self, browser: Browser | None = None) -> Browser:
        """In a new browser, or in this one."""
        browser = browser or self.house.browser()
        sent = {"login": self.user.login, "password": PASSWORD}
        answer = await browser.post(f"{browser.home}/login", data=sent)
        assert answer.status_code == 303, answer.text
        return browser

    async def at(self, workspace_id: UUID) -> Browser:
        """In a browser that has opened this workspace."""
        browser = await self.log_in()
        answer = await browser.open(browser.origin(workspace_id))
        assert answer.status_code in {200, 503}, answer.text
        return browser


def install_echo(data: Path) -> None:
    program = data / "ide" / f"code-server-{CODE_SERVER.release}" / "bin" / "node"
    program.parent.mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("echo_ide.py"), program)
    program.chmod(0o755)


@contextmanager
def house(database_url: str, redis_url: str, folder: Path, port: int = 0, **environment: str) -> Iterator[House]:
    """`database_url` is where the tests find it, `DATABASE_URL` where the house does, if that differs."""
    data = folder / "data"
    DataFolder(data, current_account()).prepare()
    install_echo(data)
    archives = folder / "archives"
    archives.mkdir()
    log = folder / "serve.log"
    with socket.create_server(("127.0.0.1", port)) as listener, log.open("wb") as written:
        settings = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": str(folder),
            "CODEHUB_DATA_DIR": str(data),
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "REDIS_CHANNEL_SSE_PREFIX": f"{folder.name}:sse",
            "REDIS_CHANNEL_WAKE_PREFIX": f"{folder.name}:wake",
            "REDIS_CHANNEL_ACTIVITY_PREFIX": f"{folder.name}:activity",
            "ARCHIVE_URL": archives.as_uri(),
            "RUNTIME": "local",
            "RUNTIME_PREPARE": "false",
            "PROXY_PROCESSES": "2",
            "CODEHUB_LOG_FORMAT": "json",
            **QUICK,
            **environment,
        }
        process = subprocess.Popen(
            [*DIES_WITH_US, COMMAND, "serve", "--fd", str(listener.fileno())],
            env=settings,
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=written,
            pass_fds=[listener.fileno()],
        )
        try:
            _until_it_offers_an_ide(database_url, process, log)
            yield House(listener.getsockname()[:2], database_url, data, settings)
        finally:
            process.terminate()
            process.wait(timeout=60)
            asyncio.run(clear(database_url, data))


def _until_it_offers_an_ide(database_url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not (b"codehub answers" in log.read_bytes() and asyncio.run(is_offered(database_url))):
        assert process.poll() is None, log.read_text()[-2000:]
        assert time.monotonic() < deadline, log.read_text()[-2000:]
        time.sleep(0.1)
