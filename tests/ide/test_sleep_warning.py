"""VS Code says that its workspace is about to sleep, and one click puts that off; the message itself is no activity.

It has to be waited for, so it takes part in campaigns only."""

import asyncio
from collections.abc import Iterator

import pytest
from playwright.async_api import expect

from codehub.images.tools import CODE_SERVER
from tests.coordinators.house import until
from tests.front_door.chromium import chromium, needs_chromium
from tests.ide.browser import new_visitor
from tests.ide.house import IdeHouse, ide_house, require_image
from tests.ide.vscode import VsCode
from tests.job.campaign import LARGE

pytestmark = [
    needs_chromium,
    pytest.mark.skipif(not LARGE, reason="waits for minutes; CODEHUB_TEST_CAMPAIGN=1"),
    pytest.mark.timeout(600),
]
IDLE_SECONDS = "120"
PATIENCE_MILLISECONDS = 240_000
LAST = "SELECT (last_activity, last_access_at)::text FROM workspaces WHERE id = $1"


@pytest.fixture
def drowsy(postgres_url: str, migrated_template: str, redis_url: str) -> Iterator[IdeHouse]:
    asyncio.run(require_image(CODE_SERVER))
    with ide_house(
        postgres_url,
        migrated_template,
        redis_url,
        TTL_STANDBY_SECONDS=IDLE_SECONDS,
        ACTIVITY_FLUSH_INTERVAL="5",
        COORDINATOR_TTL_INTERVAL="5",
    ) as running:
        yield running


async def test_the_warning_comes_and_a_click_puts_sleep_off(drowsy: IdeHouse) -> None:
    ada = await drowsy.person()
    garden = await ada.workspace("garden")
    async with chromium() as browser:
        code = VsCode(await (await new_visitor(browser)).new_page())
        await code.open(ada, drowsy.address(garden))
        warning = code.page.locator(".notification-toast", has_text="This workspace goes to sleep in a minute")
        await expect(warning).to_be_visible(timeout=PATIENCE_MILLISECONDS)
        await warning.get_by_role("button", name="Keep it awake").click()

        async def is_extended() -> bool | None:
            return "extension" in await drowsy.codehub.fetchval(LAST, garden) or None

        await until(is_extended, 30)
