"""Behind a proxy that terminates TLS: cookies that no other origin can set, and addresses that people use."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.databases import create_database, drop_database
from tests.faults.real_house import new_installation
from tests.folders import short_folder
from tests.front_door.browser import PERSON
from tests.front_door.house import House, house

TOLD = {
    "CODEHUB_PUBLIC_URL": "https://codehub.test",
    "PROXY_DOMAIN": "dev.test",
    "CODEHUB_TRUSTED_PROXIES": "127.0.0.1",
}


@pytest.fixture
def codehub(postgres_url: str, migrated_template: str, redis_url: str) -> Iterator[House]:
    url = asyncio.run(create_database(postgres_url, migrated_template))
    asyncio.run(new_installation(url))
    with short_folder() as folder, house(url, redis_url, folder, 0, **TOLD) as running:
        yield running
    asyncio.run(drop_database(postgres_url, url))


async def test_from_login_to_a_woken_workspace(codehub: House) -> None:
    ada = await codehub.person()
    garden = await ada.workspace("garden", running=False)
    browser = await ada.log_in()
    browser.headers = {"X-Forwarded-For": "198.51.100.7", "X-Forwarded-Proto": "https"}
    origin = browser.origin(garden)
    assert origin == f"https://{garden.hex}.dev.test"
    assert (await ada.call("GET", f"/workspaces/{garden}")).json()["url"] == f"{origin}/"
    page = await browser.open(origin)
    assert page.status_code == 503
    kept = browser.jar[f"{garden.hex}.dev.test"]
    assert kept.keys() == {"__Host-codehub-visit", "__Host-codehub-entering"}
    assert (await browser.fetch(f"{origin}/.codehub/static/waking.js")).status_code == 200
    assert (await browser.fetch(f"{origin}/.codehub/wake", "POST")).status_code == 202
    await ada.until_phase(garden, "RUNNING")
    told = dict((await browser.open(origin)).json()["headers"])
    assert told["X-Forwarded-For"] == "198.51.100.7"
    assert told["X-Forwarded-Proto"] == "https"
    async with browser.websocket(origin) as socket:
        assert socket.status == 101
    async with browser.websocket(origin, origin=origin.replace("https:", "http:")) as socket:
        assert socket.status == 403


async def test_a_name_that_is_not_ours_gets_nothing(codehub: House) -> None:
    browser = codehub.browser()
    for host in ("evil.test", "dev.test.evil.test"):
        assert (await browser.send("GET", f"http://{host}/login", PERSON)).status_code == 421
