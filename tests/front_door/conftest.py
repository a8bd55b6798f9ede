import asyncio
from collections.abc import Iterator
from uuid import UUID

import pytest

from tests.faults.real_house import database_of_its_own
from tests.folders import short_folder
from tests.front_door.house import IDLE_SOON, House, Person, house

A_DAY = str(24 * 60 * 60)
STAYS = {"TTL_STANDBY_SECONDS": A_DAY, "TTL_ARCHIVE_SECONDS": A_DAY}
"""What tests share is not put to sleep while others run between them."""


@pytest.fixture(scope="session")
def codehub(postgres_url: str, migrated_template: str, redis_url: str) -> Iterator[House]:
    """One for all tests of this folder; each of them is somebody else there."""
    with (
        database_of_its_own(postgres_url, migrated_template) as url,
        short_folder() as folder,
        house(url, redis_url, folder, 0, **IDLE_SOON, **STAYS) as running,
    ):
        yield running


@pytest.fixture(scope="session")
def ada(codehub: House) -> Person:
    """Somebody who works here; whatever she has is left as it is, and no limit comes in the way."""
    return asyncio.run(codehub.person(max_running=9))


@pytest.fixture(scope="session")
def garden(ada: Person) -> UUID:
    """A workspace of hers, which runs."""
    return asyncio.run(ada.workspace("garden"))


@pytest.fixture(scope="session")
def kitchen(ada: Person) -> UUID:
    """Another one."""
    return asyncio.run(ada.workspace("kitchen"))


@pytest.fixture
async def eve(codehub: House) -> Person:
    """Somebody else, to whom anything may happen."""
    return await codehub.person()
