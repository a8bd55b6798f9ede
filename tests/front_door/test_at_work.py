"""Any part is killed while somebody works: nobody is cut off, what they do is known, and nobody takes them for idle."""

import asyncio
import os
import random
import signal
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID

import httpx
import pytest
from redis.asyncio import Redis

from codehub import clock
from codehub.stack.account import service_account
from codehub.stack.data_folder import DataFolder
from tests.coordinators.house import until
from tests.front_door.browser import Browser
from tests.front_door.house import IDLE_SOON, SECONDS, House, Person, install_echo
from tests.front_door.test_parts_away import goes_on
from tests.front_door.test_waking import desired
from tests.ide.house import in_campaigns
from tests.stack.installation import Installation, installation

pytestmark = pytest.mark.timeout(300)
IDLE_SECONDS = 10


@pytest.fixture(scope="module")
def whole() -> Iterator[Installation]:
    with installation() as made:
        DataFolder(made.data, service_account()).prepare()
        install_echo(made.data)
        made.up(**IDLE_SOON)
        try:
            yield made
        finally:  # its workspaces would run on without it
            made.run("down")
            made.run("reset", "--yes")


@pytest.fixture
async def ada(whole: Installation) -> Person:
    address = urlsplit(whole.url)
    there = House((address.hostname or "", address.port or 0), whole.database_url, Path(whole.data), {})

    async def offered() -> bool | None:
        found: bool | None = await there.fetchval("SELECT true FROM templates WHERE status = 'ready'")
        return found

    await until_all_is_well(whole)  # again, after the test before
    await until(offered, SECONDS)
    return await there.person()


async def kill(whole: Installation, part: str) -> None:
    victim = whole.part(part)["pid"]
    os.kill(victim, signal.SIGKILL)
    await until_ready(whole, part, victim)


async def until_ready(whole: Installation, part: str, victim: int) -> None:
    async def ready() -> bool | None:
        now = whole.part(part)
        return (now["state"] == "ready" and now["pid"] not in {victim, None}) or None

    await until(ready, SECONDS)


async def until_all_is_well(whole: Installation) -> None:
    async def is_well() -> bool | None:
        async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
            return (await client.get(f"{whole.url}/readyz")).is_success or None

    await until(is_well, SECONDS)


async def until_seen(person: Person, workspace_id: UUID, since: datetime) -> None:
    """What was done there at that time is known."""
    query = "SELECT true FROM workspaces WHERE id = $1 AND last_access_at >= $2"

    async def is_seen() -> bool | None:
        found: bool | None = await person.house.fetchval(query, workspace_id, since)
        return found

    await until(is_seen, SECONDS)


async def test_a_killed_part_costs_nobody_their_running_workspace(whole: Installation, ada: Person) -> None:
    garden = await ada.workspace("garden")
    browser = await ada.at(garden)
    async with browser.websocket(browser.origin(garden)) as socket:
        await socket.told()
        for part in ("serve", "valkey", "postgres"):
            victim = whole.part(part)["pid"]
            os.kill(victim, signal.SIGKILL)
            assert await goes_on(browser, garden), part
            await until_ready(whole, part, victim)
            since = await ada.house.fetchval("SELECT clock_timestamp()")
            await socket.say(part.encode())
            assert await socket.hear() == part.encode()
            await until_seen(ada, garden, since)
    assert (await browser.open(f"{ada.house.url}/healthz")).status_code == 200


async def test_a_killed_front_door_is_back_with_everything_it_knew(whole: Installation, ada: Person) -> None:
    garden = await ada.workspace("garden")
    browser = await ada.at(garden)
    victim = whole.part("proxy")["pid"]
    os.kill(victim, signal.SIGKILL)
    assert (await browser.fetch(browser.origin(garden))).status_code == 200  # it has waited for the next life
    await until_ready(whole, "proxy", victim)


async def empty_redis(whole: Installation) -> None:
    async with Redis.from_url(whole.redis_url) as redis:
        await redis.flushall()


async def keep_redis_away(whole: Installation) -> None:
    """It is killed as often as it comes back, for longer than anybody may be idle."""
    began = clock.elapsed()
    while clock.elapsed() - began < 2 * IDLE_SECONDS:
        await kill(whole, "valkey")


FAULTS: Mapping[str, Callable[[Installation], Awaitable[None]]] = {
    "the leader and the API": lambda whole: kill(whole, "serve"),
    "PostgreSQL": lambda whole: kill(whole, "postgres"),
    "Redis": lambda whole: kill(whole, "valkey"),
    "Redis, emptied": empty_redis,
    "Redis, again and again": keep_redis_away,
}


async def keep_working(browser: Browser, workspace_id: UUID, over: asyncio.Event) -> None:
    """Say this and that, now and then, and hear all of it again; a clock would be no work."""
    origin = browser.origin(workspace_id)
    async with browser.websocket(origin) as socket:
        await socket.told()
        while not over.is_set():
            words = b"plum " * random.randint(1, 20)  # noqa: S311
            await socket.say(words)
            assert await socket.hear() == words
            assert (await browser.fetch(origin)).status_code == 200
            await asyncio.sleep(random.uniform(0.2, 2))  # noqa: S311


@in_campaigns
@pytest.mark.parametrize("fault", FAULTS)
async def test_whoever_works_is_not_put_to_sleep(whole: Installation, ada: Person, fault: str) -> None:
    garden, shed = await ada.workspace("garden"), await ada.workspace("shed")
    browser = await ada.at(garden)
    over = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(keep_working(browser, garden, over))
        await ada.make_drowsy(garden, IDLE_SECONDS)
        since = await ada.house.fetchval("SELECT clock_timestamp()")
        await FAULTS[fault](whole)
        await until_all_is_well(whole)
        await ada.make_drowsy(shed, IDLE_SECONDS)
        await ada.until_idle(shed)  # so people are judged again
        assert await desired(ada.house, garden) == ("RUNNING", "owner")
        await until_seen(ada, garden, since)
        over.set()
