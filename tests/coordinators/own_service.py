"""Servers that a test may stop, start and freeze, without harm to the tests beside it."""

import asyncio
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import asyncpg
from sqlalchemy import make_url

from codehub.stack import binaries
from codehub.stack.account import Account
from codehub.stack.postgres import Postgres
from codehub.stack.service import Service, ended, launch, run_once
from codehub.stack.valkey import Valkey
from codehub.store import migrate
from codehub.telemetry.health import Check, examine
from tests.databases import create_database

START_SECONDS = 60.0


@dataclass
class OwnService:
    service: Service
    process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        self.service.prepare()
        self.process = launch(self.service)
        async with asyncio.timeout(START_SECONDS):
            while not (await self.service.check()).ok:
                await asyncio.sleep(0.02)

    async def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(self.service.stop_signal)
            await ended(self.process)
            self.process = None

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def freeze(self) -> None:
        """It keeps its connections, and answers nobody."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)


class Standby(Postgres):
    """One that is ready when it answers: nobody writes to it."""

    async def check(self) -> Check:
        return await examine("standby", self._answer(), START_SECONDS)

    async def _answer(self) -> str:
        connection = await asyncpg.connect(self.url("postgres"))
        await connection.close()
        return "answers"


@asynccontextmanager
async def own_redis(folder: Path, account: Account) -> AsyncIterator[tuple[OwnService, str]]:
    name = uuid4().hex[:8]
    valkey = Valkey(
        folder=folder / f"valkey-{name}",
        sockets=folder / f"valkey-{name}-sockets",
        programs=binaries.reachable(binaries.valkey(), account, folder / "bin"),
        account=account,
        password=uuid4().hex,
        log=folder / f"valkey-{name}.log",
    )
    async with _running(OwnService(valkey)) as own:
        yield own, valkey.url


@asynccontextmanager
async def own_postgres(
    folder: Path, account: Account, *, durable: bool = False
) -> AsyncIterator[tuple[OwnService, str]]:
    """A server with an empty maintenance database; the URL is that of the superuser."""
    name = uuid4().hex[:8]
    postgres = Postgres(
        folder=folder / f"postgres-{name}",
        sockets=folder / f"postgres-{name}-sockets",
        programs=binaries.reachable(binaries.postgres(), account, folder / "bin"),
        account=account,
        password=uuid4().hex,
        log=folder / f"postgres-{name}.log",
        durable=durable,
    )
    async with _running(OwnService(postgres)) as own:
        yield own, postgres.url("postgres")


@asynccontextmanager
async def own_database(folder: Path, account: Account, *, durable: bool = False) -> AsyncIterator[str]:
    """A migrated, empty database on a server of its own."""
    async with own_postgres(folder, account, durable=durable) as (_, server_url):
        url = await create_database(server_url)
        await migrate.upgrade(url)
        yield url


@asynccontextmanager
async def own_standby(folder: Path, account: Account, primary_url: str) -> AsyncIterator[str]:
    """A hot standby of that server: it follows it, and answers questions that write nothing."""
    name = uuid4().hex[:8]
    standby = Standby(
        folder=folder / f"standby-{name}",
        sockets=folder / f"standby-{name}-sockets",
        programs=binaries.reachable(binaries.postgres(), account, folder / "bin"),
        account=account,
        password=make_url(primary_url).password or "",
        log=folder / f"standby-{name}.log",
        durable=False,
    )
    account.make_folder(standby.folder)
    copy = [f"--dbname={primary_url}", f"--pgdata={standby.data}", "--write-recovery-conf", "--checkpoint=fast"]
    copied = run_once([str(standby.bin / "pg_basebackup"), *copy], account, standby.folder)
    assert copied.returncode == 0, copied.stderr
    async with _running(OwnService(standby)):
        yield standby.url("postgres")


@asynccontextmanager
async def _running(own: OwnService) -> AsyncIterator[OwnService]:
    try:
        await own.start()
        yield own
    finally:
        await own.stop()
