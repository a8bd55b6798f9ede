"""What many logins at once cost those who are logged in already, and whether a login's time tells who has an account.

    python -m benchmarks.logins --logins 200 --timed 1000

One API process. A program asks for its own account every few milliseconds, first alone, then while so many people log
in at the same moment, each from an address of their own; every login has to succeed. Then, one after the other and in
changing order, wrong passwords for an account that exists and for one that does not.
"""

import asyncio
import ssl
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import uuid4

import asyncpg
import httpx
from benchmarks.api import serving, somebody_with_workspaces
from benchmarks.stage import Figure, arguments, ground, percentile, progress, run
from tests.folders import short_folder

from codehub.store.passwords import hash_password

P99_MS = 200
DIFFERENCE_PERCENT = 5
PAUSE_SECONDS = 0.005
ALONE_SECONDS = 5
PASSWORD = "correct horse battery staple"  # noqa: S105 (of nobody)
LOGIN = "/api/v1/auth/login"
TRUST = ssl.create_default_context()
"""Made once: to load it for each client would keep this process from measuring."""


async def benchmark(logins: int, timed: int) -> Sequence[Figure]:
    with short_folder() as folder:
        async with ground() as services, serving(services, folder) as server:
            return await measure(services.database_url, f"http://127.0.0.1:{server.port}", logins, timed)


async def measure(database_url: str, base: str, logins: int, timed: int) -> Sequence[Figure]:
    token = (await somebody_with_workspaces(database_url)).token
    await people(database_url, logins)
    async with httpx.AsyncClient(base_url=base, headers={"Authorization": f"Bearer {token}"}) as program:
        async with asking(program) as alone:
            await asyncio.sleep(ALONE_SECONDS)
        progress(f"{logins} people log in at once")
        async with asking(program) as meanwhile:
            took = await asyncio.gather(*(one_login(base, number) for number in range(logins)))
    progress(f"{timed} times each: an account that exists, one that does not")
    known, unknown = await wrong_passwords(base, timed)
    apart = statistics.median(one - other for one, other in zip(known, unknown, strict=True))
    difference = abs(apart) / statistics.median(known) * 100
    return [
        Figure("GET /me alone, p99", percentile(alone, 0.99), "ms"),
        Figure("GET /me while all log in, p50", percentile(meanwhile, 0.5), "ms"),
        Figure("GET /me while all log in, p99", percentile(meanwhile, 0.99), "ms", at_most=P99_MS),
        Figure("requests meanwhile", len(meanwhile), ""),
        Figure("a login among all, median", statistics.median(took), "ms"),
        Figure("the last login", max(took), "ms"),
        Figure("wrong password, account exists, median", statistics.median(known), "ms"),
        Figure("wrong password, no such account, median", statistics.median(unknown), "ms"),
        Figure("difference within a pair, median", difference, "%", at_most=DIFFERENCE_PERCENT),
    ]


async def people(database_url: str, count: int) -> None:
    connection = await asyncpg.connect(database_url)
    rows = [(uuid4(), f"person{number}", hash_password(PASSWORD)) for number in range(count)]
    await connection.executemany("INSERT INTO users (id, login, password_hash) VALUES ($1, $2, $3)", rows)
    await connection.close()


@asynccontextmanager
async def asking(program: httpx.AsyncClient) -> AsyncIterator[list[float]]:
    """Somebody who is logged in and goes on working; the list fills with how many milliseconds each answer took."""
    took: list[float] = []
    ending = asyncio.Event()

    async def ask() -> None:
        while not ending.is_set():
            began = time.perf_counter()
            (await program.get("/api/v1/me")).raise_for_status()
            took.append((time.perf_counter() - began) * 1000)
            await asyncio.sleep(PAUSE_SECONDS)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(ask())
        try:
            yield took
        finally:
            ending.set()


async def one_login(base: str, number: int) -> float:
    began = time.perf_counter()
    async with person(base, number) as client:
        answer = await client.post(LOGIN, json={"login": f"person{number}", "password": PASSWORD})
    answer.raise_for_status()
    return (time.perf_counter() - began) * 1000


async def wrong_passwords(base: str, times: int) -> tuple[list[float], list[float]]:
    took: dict[str, list[float]] = {"person0": [], "nobody": []}
    for number in range(times):
        async with person(base, number) as client:
            await client.get("/healthz")  # connects
            for login in sorted(took, reverse=bool(number % 2)):
                began = time.perf_counter()
                answer = await client.post(LOGIN, json={"login": login, "password": "a wrong password"})
                took[login].append((time.perf_counter() - began) * 1000)
                assert answer.status_code == 401, answer.text
    return took["person0"], took["nobody"]


def person(base: str, number: int) -> httpx.AsyncClient:
    """A client with an address of its own: all of 127/8 is this machine."""
    address = f"127.1.{number // 250}.{number % 250 + 1}"
    return httpx.AsyncClient(
        base_url=base,
        transport=httpx.AsyncHTTPTransport(local_address=address, verify=TRUST),
        timeout=httpx.Timeout(120),
    )


if __name__ == "__main__":
    options = arguments(__doc__, logins=200, timed=1000)
    run(benchmark(options.logins, options.timed))
