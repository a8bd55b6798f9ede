"""What people write is shown as they wrote it, and never becomes a part of a page."""

from urllib.parse import urlencode

import pytest
from playwright.async_api import expect

from tests.browser.eyes import Eyes, card
from tests.front_door.chromium import needs_chromium
from tests.front_door.house import Person

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

HOSTILE = (
    "<script>window.harmed = 1</script>",
    "<img src=x onerror='window.harmed = 2'>",
    "\"><svg onload='window.harmed = 3'>",
    "{{ 7 * 191 }} ${7 * 191} {% raw %}",
    "</textarea><iframe srcdoc='<script>parent.harmed = 4</script>'></iframe>",
    "javascript:window.harmed = 5",
)


async def test_what_people_write_stays_what_they_wrote(eyes: Eyes, eve: Person) -> None:
    garden, words = await eve.workspace(running=False), " ".join(HOSTILE)
    changed = await eve.call("PATCH", f"/workspaces/{garden}", {"description": words, "memo": words})
    assert changed.status_code == 200, changed.text
    page = await eyes.log_in(eve)
    await expect(card(page, "garden")).to_contain_text(words)
    for searched in HOSTILE[:3]:
        await page.goto(f"{eyes.codehub.browser().home}/?{urlencode({'q': searched})}")
        await expect(page.locator("input[name=q]")).to_have_value(searched)
    await page.goto(f"{eyes.codehub.browser().home}/workspaces/{garden}")
    await expect(page.locator("main")).to_contain_text("garden")
    assert await page.evaluate("window.harmed") is None
    assert await page.locator("iframe[srcdoc], img[onerror], svg[onload]").count() == 0
    assert await page.locator("script", has_text="harmed").count() == 0
