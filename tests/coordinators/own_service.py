"""Servers that a test may stop, start and freeze, without harm to the tests beside it."""

import asyncio
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from codehub.stack import binaries
from codehub.stack.account import Account
from codehub.stack.postgres import Postgres
from codehub.stack.service import Service, ended, launch
from codehub.stack.valkey import Valkey

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

    def freeze(self) -> None:
        """It keeps its connections, and answers nobody."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)


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
async def own_postgres(folder: Path, account: Account) -> AsyncIterator[tuple[OwnService, str]]:
    """A server with an empty maintenance database; the URL is that of the superuser."""
    name = uuid4().hex[:8]
    postgres = Postgres(
        folder=folder / f"postgres-{name}",
        sockets=folder / f"postgres-{name}-sockets",
        programs=binaries.reachable(binaries.postgres(), account, folder / "bin"),
        account=account,
        password=uuid4().hex,
        log=folder / f"postgres-{name}.log",
        durable=False,
    )
    async with _running(OwnService(postgres)) as own:
        yield own, postgres.url("postgres")


@asynccontextmanager
async def _running(own: OwnService) -> AsyncIterator[OwnService]:
    await own.start()
    try:
        yield own
    finally:
        await own.stop()
