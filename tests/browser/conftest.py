"""The dashboard in a real browser, before a whole `codehub serve` on real services."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from playwright.async_api import Browser

from tests.browser.eyes import Eyes
from tests.databases import create_database, drop_database
from tests.faults.real_house import new_installation
from tests.folders import short_folder
from tests.front_door.chromium import chromium
from tests.front_door.house import House, Person, house


@pytest.fixture(scope="session")
def codehub(postgres_url: str, migrated_template: str, redis_url: str) -> Iterator[House]:
    """One for all tests of this folder; each of them is somebody else there."""
    url = asyncio.run(create_database(postgres_url, migrated_template))
    asyncio.run(new_installation(url))
    with short_folder() as folder, house(url, redis_url, folder) as running:
        yield running
    asyncio.run(drop_database(postgres_url, url))


@pytest.fixture
async def eve(codehub: House) -> Person:
    """Somebody to whom anything may happen."""
    return await codehub.person(max_running=3)


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as opened:
        yield opened


@pytest.fixture
async def eyes(browser: Browser, codehub: House) -> AsyncIterator[Eyes]:
    """One browser window; whatever its pages complained about fails the test."""
    looking = Eyes(codehub, await browser.new_context(viewport={"width": 1200, "height": 800}))
    yield looking
    assert looking.complaints == []
