"""An installation on the memory runtime, with an API on which people listen to what happens."""

import asyncio
import contextlib
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import httpx
from fastapi import FastAPI

from codehub.model.accounts import Scope
from codehub.stack.account import service_account
from tests.coordinators.house import until
from tests.coordinators.own_service import own_database, own_redis
from tests.faults.serving import DIES_WITH_US
from tests.folders import short_folder
from tests.soak.memory_house import PREFIX, READY
from tests.soak.sampling import Sampled
from tests.stack.installation import COMMAND
from tests.web.api.people import People

PEOPLE = 100
START_SECONDS = 300


@dataclass(frozen=True)
class MemoryInstallation:
    address: tuple[str, int]
    tokens: Sequence[str]
    sampled: Sampled


@asynccontextmanager
async def memory_installation(workspaces: int) -> AsyncIterator[MemoryInstallation]:
    account = service_account()
    with short_folder() as folder, socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        async with (
            own_database(folder, account, durable=True) as database_url,
            own_redis(folder, account) as (_, redis_url),
        ):
            tokens = await _people(database_url)
            environment = _environment(folder, database_url, redis_url)
            serve = [COMMAND, "serve", "--roles", "api", "--fd", str(listener.fileno())]
            house = [sys.executable, "-m", "tests.soak.memory_house", str(workspaces)]
            async with _process(serve, environment, listener.fileno()) as api, _process(house, environment) as engine:
                assert engine.stdout is not None
                async with asyncio.timeout(START_SECONDS):
                    assert (await engine.stdout.readline()).decode().strip() == READY
                address = listener.getsockname()[:2]
                await until(lambda: _answers(address), START_SECONDS)

                def processes() -> dict[str, list[int | None]]:
                    return {"api": [_alive(api)], "coordinators": [_alive(engine)]}

                yield MemoryInstallation(address, tokens, Sampled("memory", database_url, redis_url, processes))


def _alive(process: asyncio.subprocess.Process) -> int | None:
    return process.pid if process.returncode is None else None


async def _people(database_url: str) -> list[str]:
    async with asyncpg.create_pool(database_url, min_size=0, max_size=2) as pool:
        people = People(FastAPI(), pool, contextlib.AsyncExitStack())
        users = [await people.user() for _ in range(PEOPLE)]
        return [(await people.token(user, Scope.WORKSPACES)).value for user in users]


def _environment(folder: Path, database_url: str, redis_url: str) -> dict[str, str]:
    (folder / "data").mkdir()
    return {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "CODEHUB_DATA_DIR": str(folder / "data"),
        "CODEHUB_LOG_LEVEL": "error",
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "REDIS_CHANNEL_WAKE_PREFIX": f"{PREFIX}:wake",
        "REDIS_CHANNEL_SSE_PREFIX": f"{PREFIX}:sse",
        "REDIS_CHANNEL_ACTIVITY_PREFIX": f"{PREFIX}:activity",
        "RUNTIME": "local",
        "RUNTIME_PREPARE": "false",
    }


@asynccontextmanager
async def _process(
    command: Sequence[str], environment: dict[str, str], *inherited: int
) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *DIES_WITH_US, *command, env=environment, pass_fds=inherited, stdout=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _answers(address: tuple[str, int]) -> bool | None:
    async with httpx.AsyncClient(trust_env=False, timeout=5) as client:
        with contextlib.suppress(httpx.HTTPError):
            return (await client.get(f"http://{address[0]}:{address[1]}/healthz")).is_success or None
    return None
