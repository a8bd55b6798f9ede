"""How soon somebody who is put out is out: until an open WebSocket is closed, and until a request is refused, from the
moment that their session is gone from the database.

    python -m benchmarks.revocation --rounds 40

Through a whole `codehub serve` with two processes of the front door, on the runtime without an engine. Each time it is
another session, which is ended at a random moment between two looks of the front door.
"""

import asyncio
import os
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

import aiohttp
import asyncpg
from benchmarks.jupyterhub import free_port
from benchmarks.stage import Figure, Ground, arguments, ground, percentile, progress, run
from tests.cli.serving import clear, is_offered
from tests.faults.serving import DIES_WITH_US
from tests.folders import short_folder
from tests.front_door.browser import SCRIPT, Browser
from tests.front_door.house import House, install_echo
from tests.stack.installation import COMMAND

from codehub.stack.account import current_account
from codehub.stack.data_folder import DataFolder

AT_MOST_MS = 1000
LOOK_SECONDS = 0.005
LONGEST_SECONDS = 30
END_SESSION = "DELETE FROM sessions WHERE secret_hash = sha256($1::bytea) RETURNING id"


async def benchmark(rounds: int) -> Sequence[Figure]:
    closed, refused = [], []
    async with ground() as services, served(services) as house, aiohttp.ClientSession() as session:
        person = await house.person()
        garden = await person.workspace("garden")
        database = await asyncpg.connect(house.database_url)
        for number in range(rounds):
            browser = await person.at(garden)
            await asyncio.sleep(random.random())  # noqa: S311 (spreads, hides nothing)
            until_closed, until_refused = await put_out(database, session, browser, garden)
            closed.append(until_closed)
            refused.append(until_refused)
            progress(f"{number + 1} of {rounds}: closed after {closed[-1]:.0f} ms, refused after {refused[-1]:.0f} ms")
        await database.close()
    return [
        Figure("WebSocket closed, median", percentile(closed, 0.5), "ms"),
        Figure(f"WebSocket closed, longest of {rounds}", max(closed), "ms", at_most=AT_MOST_MS),
        Figure("request refused, median", percentile(refused, 0.5), "ms"),
        Figure(f"request refused, longest of {rounds}", max(refused), "ms", at_most=AT_MOST_MS),
    ]


async def put_out(
    database: asyncpg.Connection, session: aiohttp.ClientSession, browser: Browser, workspace_id: UUID
) -> tuple[float, float]:
    """Milliseconds until the WebSocket was closed, and until a request was refused."""
    origin = browser.origin(workspace_id)
    there = f"http://{browser.address[0]}:{browser.address[1]}/"
    said = {**SCRIPT, "Host": origin.removeprefix("http://"), "Cookie": browser.cookies(origin)}
    secret = browser.jar["127.0.0.1"]["codehub"][0].encode()

    async def is_closed() -> float:
        if await socket.closed() != 1008:
            raise AssertionError("closed for another reason")
        return time.perf_counter()

    async def is_refused() -> float:
        async with asyncio.timeout(LONGEST_SECONDS):
            while True:
                async with session.get(there, headers=said) as answer:
                    if answer.status == 401:
                        return time.perf_counter()
                await asyncio.sleep(LOOK_SECONDS)

    async with browser.websocket(origin) as socket:
        await socket.told()
        waiting = asyncio.gather(is_closed(), is_refused())
        await asyncio.sleep(0)
        await database.fetchval(END_SESSION, secret)
        began = time.perf_counter()
        closed_at, refused_at = await waiting
    return (closed_at - began) * 1000, (refused_at - began) * 1000


@asynccontextmanager
async def served(services: Ground) -> AsyncIterator[House]:
    """A whole `codehub serve` with something that answers in the place of an IDE."""
    with short_folder() as folder:
        data, port = folder / "data", free_port()
        DataFolder(data, current_account()).prepare()
        install_echo(data)
        settings = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "CODEHUB_DATA_DIR": str(data),
            "CODEHUB_LISTEN": f"127.0.0.1:{port}",
            "DATABASE_URL": services.database_url,
            "REDIS_URL": services.redis_url,
            "RUNTIME": "local",
            "RUNTIME_PREPARE": "false",
            "PROXY_PROCESSES": "2",
        }
        log = folder / "serve.log"
        with log.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                *DIES_WITH_US, COMMAND, "serve", env=settings, stdout=output, stderr=output
            )
        try:
            await _until_it_offers(services.database_url, log)
            yield House(("127.0.0.1", port), services.database_url, data, settings)
        finally:
            process.terminate()
            await process.wait()
            await clear(services.database_url, data)


async def _until_it_offers(database_url: str, log: Path) -> None:
    async with asyncio.timeout(2 * LONGEST_SECONDS):
        while not (b"codehub answers" in await asyncio.to_thread(log.read_bytes) and await is_offered(database_url)):
            await asyncio.sleep(0.1)


if __name__ == "__main__":
    run(benchmark(arguments(__doc__, rounds=40).rounds))
