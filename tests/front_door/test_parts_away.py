"""With the database away, or any part killed: whoever is at work in a running workspace goes on."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest

from codehub.stack.account import service_account
from codehub.stack.data_folder import DataFolder
from tests.coordinators.house import until
from tests.faults.real_house import new_installation
from tests.folders import short_folder
from tests.front_door.browser import Browser
from tests.front_door.house import IDLE_SOON, SECONDS, House, Person, house, install_echo
from tests.stack.installation import Installation, installation
from tests.web.switch import Switch

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
async def switch(database_url: str) -> AsyncIterator[Switch]:
    [folder] = parse_qs(urlsplit(database_url).query)["host"]
    async with Switch(f"{folder}/.s.PGSQL.5432") as switch:
        yield switch


@pytest.fixture
async def codehub(database_url: str, redis_url: str, switch: Switch) -> AsyncIterator[House]:
    """One whose database can be taken away."""
    await new_installation(database_url)
    parts = urlsplit(database_url)
    through_switch = parts._replace(netloc=f"{parts.netloc}127.0.0.1:{switch.port}", query="").geturl()
    stack = ExitStack()
    folder = stack.enter_context(short_folder())
    try:  # in a thread of its own: the way to the database is a task of this loop
        made = house(database_url, redis_url, folder, DATABASE_URL=through_switch)
        yield await asyncio.to_thread(stack.enter_context, made)
    finally:
        await asyncio.to_thread(stack.close)


async def test_known_visitors_go_on_and_others_are_told_to_come_back(codehub: House, switch: Switch) -> None:
    ada = await codehub.person()
    garden, attic = await ada.workspace("garden"), await ada.workspace("attic", running=False)
    browser = await ada.at(garden)
    await browser.open(browser.origin(attic))
    for _ in range(8):  # each process of the front door has seen her
        assert (await browser.fetch(browser.origin(garden))).status_code == 200
    async with browser.websocket(browser.origin(garden)) as socket:
        await socket.told()
        await switch.close()
        try:
            for _ in range(5):
                assert await goes_on(browser, garden)
                await asyncio.sleep(0.5)  # past what is remembered for a second
            await socket.say(b"still here")
            assert await socket.hear() == b"still here"
            assert (await browser.open(browser.origin(attic))).status_code == 503
            stranger = codehub.browser(Authorization="Bearer codehub_" + "x" * 43)
            assert (await stranger.fetch(browser.origin(garden))).status_code == 503
        finally:
            await switch.open()
    other = await ada.log_in()
    assert (await other.open(other.origin(garden))).status_code == 200


async def goes_on(browser: Browser, workspace_id: UUID) -> bool:
    statuses = [(await browser.fetch(browser.origin(workspace_id))).status_code for _ in range(10)]
    return statuses == [200] * 10


@pytest.fixture
def whole() -> Iterator[Installation]:
    with installation() as made:
        DataFolder(made.data, service_account()).prepare()
        install_echo(made.data)
        made.up(**IDLE_SOON)
        yield made


async def test_a_killed_part_costs_nobody_their_running_workspace(whole: Installation) -> None:
    ada = await at_work(whole)
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


async def until_seen(person: Person, workspace_id: UUID, since: datetime) -> None:
    """What was done there at that time is known."""
    query = "SELECT true FROM workspaces WHERE id = $1 AND last_access_at >= $2"

    async def is_seen() -> bool | None:
        found: bool | None = await person.house.fetchval(query, workspace_id, since)
        return found

    await until(is_seen, SECONDS)


async def test_a_killed_front_door_is_back_with_everything_it_knew(whole: Installation) -> None:
    ada = await at_work(whole)
    garden = await ada.workspace("garden")
    browser = await ada.at(garden)
    victim = whole.part("proxy")["pid"]
    os.kill(victim, signal.SIGKILL)
    assert (await browser.fetch(browser.origin(garden))).status_code == 200  # it has waited for the next life
    await until_ready(whole, "proxy", victim)


async def at_work(whole: Installation) -> Person:
    address = urlsplit(whole.url)
    there = House((address.hostname or "", address.port or 0), whole.database_url, Path(whole.data), {})

    async def offered() -> bool | None:
        found: bool | None = await there.fetchval("SELECT true FROM templates WHERE status = 'ready'")
        return found

    await until(offered, 60)
    return await there.person()


async def until_ready(whole: Installation, part: str, victim: int) -> None:
    async def ready() -> bool | None:
        now = whole.part(part)
        return (now["state"] == "ready" and now["pid"] not in {victim, None}) or None

    await until(ready, 60)
