"""The dashboard in a real browser, before a whole `codehub serve` on real services."""

from collections.abc import AsyncIterator, Iterator

import pytest
from playwright.async_api import Browser

from codehub.model.accounts import Scope
from tests.browser.eyes import Eyes
from tests.faults.real_house import database_of_its_own
from tests.folders import short_folder
from tests.front_door.chromium import chromium
from tests.front_door.house import House, Person, house
from tests.web.api.people import PASSWORD


@pytest.fixture(scope="session")
def codehub(postgres_url: str, migrated_template: str, redis_url: str) -> Iterator[House]:
    """One for all tests of this folder; each of them is somebody else there."""
    with (
        database_of_its_own(postgres_url, migrated_template) as url,
        short_folder() as folder,
        house(url, redis_url, folder) as running,
    ):
        yield running


@pytest.fixture
async def eve(codehub: House) -> Person:
    """Somebody to whom anything may happen."""
    return await codehub.person(max_running=3)


@pytest.fixture
async def boss(codehub: House) -> Person:
    """An administrator."""
    async with codehub.people() as everybody:
        user = await everybody.administrator(password=PASSWORD)
        token = await everybody.token(user, Scope.ADMIN)
    return Person(codehub, user, token.id, token.value)


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
