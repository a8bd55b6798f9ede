"""Thousands of calls that schemathesis makes up from the description of the interface, against a real process.

No answer may be a 5xx, of a status that is not described, or of another shape than described.
`python -m tests.web.api.campaign [--calls 20000]` runs until so many calls were made; a test makes fewer."""

import argparse
import asyncio
import os
import re
import secrets
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import asyncpg
import httpx
import uvloop

from codehub.archives.open import open_store
from codehub.stack.account import service_account
from codehub.store.callers import hashed
from codehub.web.callers import TOKEN_PREFIX
from tests.cli.command import Command, answer_of
from tests.coordinators.own_service import own_database, own_redis
from tests.folders import short_folder
from tests.web.api.campaign_hooks import ARCHIVE, BOSS, GARDEN
from tests.web.api.shelf import Shelf
from tests.web.api.workspaces import make_template

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
LEFT_OUT = ("/api/v1/events", "/api/v1/auth/logout")
"""A stream without an end, and what would take the campaign's own token away."""
MADE = re.compile(r"(\d+) generated")


@dataclass(frozen=True)
class Round:
    calls: int
    report: str
    passed: bool


async def administrator(database_url: str, archives: Path) -> str:
    """The token of somebody who may do everything, and who has a workspace with an archive in this folder, so that
    calls reach what they are about."""
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    async with asyncpg.create_pool(database_url, min_size=1, max_size=1) as pool:
        await make_template(pool)
        await pool.execute("UPDATE templates SET built_in = true")  # otherwise the campaign soon deletes it
        await pool.execute(
            "INSERT INTO users (id, login, password_hash, role, max_running) VALUES ($1, 'boss', '!', 'admin', 100)",
            BOSS,
        )
        await pool.execute(
            "INSERT INTO api_tokens (id, user_id, name, secret_hash, hint, scopes)"
            " VALUES ($1, $2, 'campaign', $3, '', '{admin}')",
            *(uuid4(), BOSS, hashed(token)),
        )
        await pool.execute(
            "INSERT INTO workspaces (id, owner_user_id, name, desired_state) VALUES ($1, $2, 'garden', 'ARCHIVED')",
            *(GARDEN, BOSS),
        )
        await asyncio.to_thread(archives.mkdir)
        await Shelf(pool, open_store(archives.as_uri())).put({"id": str(GARDEN)}, b"x" * 1000, ARCHIVE)
    return token


@asynccontextmanager
async def serving(database_url: str, redis_url: str, folder: Path, archives: Path) -> AsyncIterator[str]:
    """The address of a `codehub serve` that answers."""
    variables = {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "ARCHIVE_URL": archives.as_uri(),
        "LIMITS_MAX_RUNNING_GLOBAL": "1000000",
    }
    address = f"127.0.0.1:{_free_port()}"
    arguments = ("serve", "--roles", "api", "--listen", address)
    async with Command(folder).running(*arguments, variables=variables) as process:
        talking = asyncio.ensure_future(_silenced(process))
        try:
            await answer_of(f"http://{address}/healthz")
            yield f"http://{address}"
        finally:
            talking.cancel()
            await asyncio.wait([talking])


async def _silenced(process: asyncio.subprocess.Process) -> None:
    """Read what it says, so that it never waits for a reader."""
    assert process.stderr is not None
    assert process.stdout is not None
    await asyncio.gather(process.stdout.read(), process.stderr.read())


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


async def one_round(address: str, token: str, examples: int, folder: Path) -> Round:
    """Every operation by examples, at its edges, by chance, and in chains where one answer leads to the next call."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "schemathesis.cli", "run", f"{address}/api/v1/openapi.json"),
        *("--header", f"Authorization: Bearer {token}", "--checks", CHECKS, "--max-examples", str(examples)),
        *(part for path in LEFT_OUT for part in ("--exclude-path", path)),
        *("--continue-on-failure", "--no-color", "--request-timeout", "30"),
        *("--suppress-health-check", "all", "--warnings", "off"),
        cwd=folder,
        env={**os.environ, "SCHEMATHESIS_HOOKS": "tests.web.api.campaign_hooks", "PYTHONPATH": str(Path.cwd())},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    report = output.decode(errors="replace")
    made = MADE.search(report)
    async with httpx.AsyncClient(trust_env=False, headers={"Authorization": f"Bearer {token}"}) as client:
        known = (await client.get(f"{address}/api/v1/me")).status_code == 200  # otherwise little was reached
    return Round(int(made[1]) if made else 0, report, passed=process.returncode == 0 and known)


async def campaign(calls: int) -> None:
    account = service_account()
    with short_folder() as folder, tempfile.TemporaryDirectory() as place:
        async with own_database(folder, account) as database_url, own_redis(folder, account) as (_, redis_url):
            archives = Path(place) / "archives"
            token = await administrator(database_url, archives)
            async with serving(database_url, redis_url, Path(place), archives) as address:
                await _rounds(address, token, calls, Path(place))
            await _tell_what_was_done(database_url)


async def _tell_what_was_done(database_url: str) -> None:
    """Refusals alone would prove little."""
    connection = await asyncpg.connect(database_url)
    done = await connection.fetch("SELECT action, count(*) FROM audit_log GROUP BY action ORDER BY action")
    await connection.close()
    print(", ".join(f"{row['action']} {row['count']}" for row in done))  # noqa: T201


async def _rounds(address: str, token: str, calls: int, folder: Path) -> None:
    made = 0
    while made < calls:
        done = await one_round(address, token, 50, folder)
        made += done.calls
        print(f"{made} calls", flush=True)  # noqa: T201
        if not done.passed or done.calls == 0:
            sys.exit(done.report)
    print(done.report[-2000:])  # noqa: T201


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=20_000)
    uvloop.run(campaign(parser.parse_args().calls))


if __name__ == "__main__":
    main()
