import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from playwright.async_api import BrowserContext

from codehub.images.tools import CODE_SERVER
from tests.front_door.chromium import chromium
from tests.front_door.house import Person
from tests.ide.browser import new_visitor
from tests.ide.house import IdeHouse, ide_house, in_campaigns, require_image


@pytest.fixture(scope="session")
def own_origins(postgres_url: str, migrated_template: str, redis_url: str) -> Iterator[IdeHouse]:
    """One for all tests of this folder; each of them is somebody else there."""
    asyncio.run(require_image(CODE_SERVER))
    with ide_house(postgres_url, migrated_template, redis_url) as running:
        yield running


@pytest.fixture(scope="session")
def by_path(postgres_url: str, migrated_template: str, redis_url: str) -> Iterator[IdeHouse]:
    """The same with one second origin for all workspaces."""
    asyncio.run(require_image(CODE_SERVER))
    with ide_house(postgres_url, migrated_template, redis_url, is_by_path=True) as running:
        yield running


@pytest.fixture(params=["own_origins", pytest.param("by_path", marks=in_campaigns)])
def house(request: pytest.FixtureRequest) -> IdeHouse:
    found: IdeHouse = request.getfixturevalue(request.param)
    return found


@pytest.fixture
async def ada(house: IdeHouse) -> Person:
    return await house.person()


@pytest.fixture
async def browser() -> AsyncIterator[BrowserContext]:
    async with chromium() as started:
        yield await new_visitor(started)
