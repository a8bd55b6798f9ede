"""A life with the real VS Code, led from the dashboard: nothing is done behind its back."""

import pytest
from playwright.async_api import BrowserContext, expect

from tests.browser.eyes import Eyes, card
from tests.front_door.chromium import needs_chromium
from tests.ide.browser import PATIENCE_SECONDS
from tests.ide.house import IdeHouse, in_campaigns
from tests.ide.vscode import VsCode

pytestmark = [needs_chromium, in_campaigns, pytest.mark.timeout(900)]

WATCH = """() => {
    window.labels = new Set();
    const note = () => document.querySelectorAll(".badge").forEach((each) => window.labels.add(each.textContent));
    new MutationObserver(note).observe(document.body, { childList: true, subtree: true, characterData: true });
}"""


async def test_made_used_archived_and_woken_by_its_address_it_is_as_it_was(
    own_origins: IdeHouse, browser: BrowserContext
) -> None:
    ada = await own_origins.person()
    page = await Eyes(own_origins.codehub, browser).log_in(ada)
    page.set_default_timeout(PATIENCE_SECONDS * 1000)
    await page.evaluate(WATCH)
    await page.get_by_role("link", name="Make your first workspace").click()
    await page.get_by_role("dialog").get_by_label("Name").fill("garden")
    await page.get_by_role("dialog").get_by_role("button", name="Make it").click()
    garden = card(page, "garden")
    await expect(garden.locator(".badge")).to_have_text("Running")
    async with browser.expect_page() as opened:
        await garden.get_by_role("link", name="Open garden").click()
    code = VsCode(await opened.value)
    await code.until_ready()
    await code.open_terminal()
    await code.in_terminal("echo plums > basket.txt")
    (made,) = (await ada.call("GET", "/workspaces")).json()["items"]
    home = own_origins.home(made["id"])
    await home.until_prints("cat basket.txt", "plums")
    await page.bring_to_front()
    await garden.get_by_role("button", name="Stop garden").click()
    await expect(garden.locator(".badge")).to_have_text("Stopped")
    await garden.locator("summary").click()
    await garden.get_by_role("button", name="Archive garden").click()
    await expect(garden.locator(".badge")).to_have_text("Archived")
    assert {"Starting", "Archiving"} <= set(await page.evaluate("[...window.labels]"))  # what it did was seen meanwhile
    await code.page.bring_to_front()
    await code.page.goto(made["url"], wait_until="domcontentloaded")
    await code.until_ready()
    await expect(code.page.get_by_role("treeitem", name="basket.txt")).to_be_visible()
    assert await home.run("cat basket.txt") == "plums"
