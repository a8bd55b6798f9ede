"""Where there is no wildcard DNS: all workspaces on one second origin, by path."""

import asyncio
import re
import socket
from collections.abc import Iterator
from uuid import UUID, uuid4

import pytest

from tests.databases import create_database, drop_database
from tests.faults.real_house import new_installation
from tests.folders import short_folder
from tests.front_door.browser import Browser
from tests.front_door.house import House, Person, house

LIKE_THE_OTHERS = """
    INSERT INTO templates (id, name, image_ref, status, port, health_path, strip_prefix)
    SELECT $1, 'knows-its-path', image_ref, status, port, health_path, false FROM templates WHERE name = 'code-server'
"""


@pytest.fixture(scope="module")
def codehub(postgres_url: str, migrated_template: str, redis_url: str) -> Iterator[House]:
    url = asyncio.run(create_database(postgres_url, migrated_template))
    asyncio.run(new_installation(url))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    origin = f"http://workspaces.localhost:{port}"
    with short_folder() as folder, house(url, redis_url, folder, port, PROXY_ORIGIN=origin) as running:
        yield running
    asyncio.run(drop_database(postgres_url, url))


@pytest.fixture(scope="module")
def ada(codehub: House) -> Person:
    return asyncio.run(codehub.person())


@pytest.fixture(scope="module")
def garden(ada: Person) -> UUID:
    return asyncio.run(ada.workspace("garden"))


@pytest.fixture(scope="module")
def attic(ada: Person) -> UUID:
    return asyncio.run(ada.workspace("attic", running=False))


@pytest.fixture
async def browser(ada: Person, garden: UUID) -> Browser:
    return await ada.at(garden)


async def test_a_workspace_is_opened_below_its_path_and_asked_as_if_at_the_root(browser: Browser, garden: UUID) -> None:
    there = browser.origin(garden)
    answer = await browser.open(f"{browser.home}/w/{garden}/folder?x=1")
    assert answer.json()["path"] == "/folder?x=1"
    assert (await browser.fetch(f"{there}/%2e%2e/x//y")).json()["path"] == "/%2e%2e/x//y"
    async with browser.websocket(f"{there}/socket") as socket:
        assert (await socket.told())["path"] == "/socket"
    without_slash = await browser.open(there, follow=False)
    assert without_slash.headers["location"] == f"/w/{garden.hex}/"


async def test_an_ide_that_knows_its_path_is_asked_with_it(codehub: House, browser: Browser, garden: UUID) -> None:
    knows = "UPDATE templates SET strip_prefix = $1 WHERE name = 'code-server'"
    await codehub.fetchval(knows, False)
    try:
        seen = ""
        async with asyncio.timeout(60):
            while seen != f"/w/{garden.hex}/lab":
                seen = (await browser.fetch(f"{browser.origin(garden)}/lab")).json()["path"]
    finally:
        await codehub.fetchval(knows, True)


async def test_an_ide_is_told_its_path(codehub: House, garden: UUID) -> None:
    plans = [plan.read_text() for plan in codehub.data.glob("local/instances/*/*.json")]
    assert [plan for plan in plans if f'"CODEHUB_BASE_PATH": "/w/{garden.hex}/"' in plan]


async def test_an_ide_that_knows_its_path_is_asked_for_its_health_below_it(codehub: House) -> None:
    eve = await codehub.person()
    await codehub.fetchval(LIKE_THE_OTHERS, uuid4())
    shed = await eve.workspace("shed", template="knows-its-path")
    plans = [plan.read_text() for plan in codehub.data.glob("local/instances/*/*.json")]
    assert [plan for plan in plans if f'"health_path": "/w/{shed.hex}/healthz"' in plan]


async def test_a_visit_is_kept_to_its_own_path(browser: Browser, garden: UUID, attic: UUID) -> None:
    assert "codehub-visit" in browser.cookies(f"{browser.origin(garden)}/")
    assert "codehub-visit" not in browser.cookies(f"{browser.origin(attic)}/")
    assert (await browser.fetch(f"{browser.origin(attic)}/")).status_code == 401


async def test_nothing_else_is_on_that_origin(ada: Person, browser: Browser, garden: UUID) -> None:
    for path in ("/", "/api/v1/me", "/login", "/internal/", f"//w/{garden.hex}/x", f"/w/{garden}/", "/w/garden/"):
        answer = await browser.send("GET", f"{browser.origins.shared}{path}", ada.bearer)
        assert answer.status_code == 404, path


async def test_a_page_elsewhere_cannot_open_a_websocket(browser: Browser, garden: UUID) -> None:
    async with browser.websocket(f"{browser.origin(garden)}/", origin=browser.home) as socket:
        assert socket.status == 403


async def test_a_sleeping_one_is_woken_below_its_path(ada: Person, attic: UUID) -> None:
    browser = await ada.log_in()
    page = await browser.open(f"{browser.origin(attic)}/folder")
    assert page.status_code == 503
    for address in re.findall(r'(?:src|href)="(/[^"]*)"', page.text):
        assert (await browser.fetch(f"{browser.origins.shared}{address}")).status_code == 200
    sent = await browser.post(f"{browser.origin(attic)}/.codehub/wake", {"to": f"/w/{attic.hex}/folder"})
    assert sent.headers["location"] == f"/w/{attic.hex}/folder"
    await ada.until_phase(attic, "RUNNING")
    assert (await browser.open(f"{browser.origin(attic)}/folder")).json()["path"] == "/folder"
