"""What people write is shown as they wrote it, and never becomes a part of a page."""

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
    for number, words in enumerate(HOSTILE):
        garden = await eve.workspace(f"garden-{number}", running=False)
        changed = await eve.call("PATCH", f"/workspaces/{garden}", {"description": words, "memo": words})
        assert changed.status_code == 200, changed.text
    page = await eyes.log_in(eve)
    for number, words in enumerate(HOSTILE):
        await expect(card(page, f"garden-{number}")).to_contain_text(words)
    for words in HOSTILE:
        await page.goto(f"{eyes.codehub.browser().home}/?q={words.replace('%', '%25').replace('#', '%23')}")
        await expect(page.locator("input[name=q]")).to_have_value(words)
        assert await page.evaluate("window.harmed") is None
    assert await page.locator("#list script, #list img, #list svg[onload], #list iframe").count() == 0
    assert "1337" not in await page.content()
