"""With the database away whoever is at work in a running workspace goes on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest

from tests.faults.real_house import new_installation
from tests.folders import short_folder
from tests.front_door.browser import Browser
from tests.front_door.house import House, house
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
        made = house(database_url, redis_url, folder, DATABASE_URL=through_switch, PROXY_PROCESSES="1")
        yield await asyncio.to_thread(stack.enter_context, made)
    finally:
        await asyncio.to_thread(stack.close)


async def test_known_visitors_go_on_and_others_are_told_to_come_back(codehub: House, switch: Switch) -> None:
    ada = await codehub.person()
    garden, attic = await ada.workspace("garden"), await ada.workspace("attic", running=False)
    browser = await ada.at(garden)
    await browser.open(browser.origin(attic))
    for _ in range(8):
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
            refused = await stranger.fetch(browser.origin(garden))
            assert refused.status_code == 503
            assert refused.headers["refresh"]  # a page that shows this asks again by itself
        finally:
            await switch.open()
    other = await ada.log_in()
    assert (await other.open(other.origin(garden))).status_code == 200


async def goes_on(browser: Browser, workspace_id: UUID) -> bool:
    statuses = [(await browser.fetch(browser.origin(workspace_id))).status_code for _ in range(10)]
    return statuses == [200] * 10
