"""The dashboard by keyboard alone."""

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.eyes import Eyes, card
from tests.browser.homes import archived
from tests.front_door.chromium import needs_chromium
from tests.front_door.house import Person

pytestmark = [needs_chromium, pytest.mark.timeout(300)]


async def seek(page: Page, words: str) -> Locator:
    """What the palette finds for these words, typed without a look at the screen as soon as the page listens."""
    await expect(page.get_by_role("button", name="Commands")).to_be_visible()
    await page.keyboard.press("Control+k")
    await page.keyboard.type(words)
    await expect(page.get_by_role("combobox", name="Commands")).to_have_value(words)
    return page.get_by_role("listbox", name="Commands").get_by_role("option")


async def test_the_palette_finds_a_deed_and_does_it(eyes: Eyes, eve: Person) -> None:
    for name in ("garden", "shed"):
        await eve.workspace(name, running=False)
    page = await eyes.log_in(eve)
    found = await seek(page, "start gar")
    await expect(found).to_have_count(1)
    await expect(found).to_contain_text("Start garden")
    await expect(found).to_have_attribute("aria-selected", "true")
    field = page.get_by_role("combobox", name="Commands")
    await expect(field).to_be_focused()
    await expect(field).to_have_attribute("aria-activedescendant", "command-0")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog")).to_be_hidden()
    await expect(card(page, "garden").locator(".badge")).to_have_text("Running")
    await expect(card(page, "shed").locator(".badge")).to_have_text("Stopped")


async def test_the_palette_leads_to_pages_and_questions_and_changes_how_it_all_looks(eyes: Eyes, eve: Person) -> None:
    await eve.workspace("garden", running=False)
    page = await eyes.log_in(eve)
    await expect(await seek(page, "delete garden")).to_have_count(1)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Delete garden?")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_be_hidden()
    await expect(await seek(page, "dark")).to_have_count(1)
    await page.keyboard.press("Enter")
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    await seek(page, "nothing like this")
    await expect(page.get_by_text("Nothing matches.")).to_be_visible()
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Commands").click()
    await page.get_by_role("combobox", name="Commands").fill("account")
    await page.get_by_role("option", name="Account Page").click()
    await expect(page.get_by_role("heading", name="Account")).to_be_visible()


async def test_the_arrows_go_round_among_what_was_found(eyes: Eyes, eve: Person) -> None:
    page = await eyes.log_in(eve)
    options = await seek(page, "theme")
    await expect(options).to_have_count(3)
    for key, chosen in (("ArrowUp", 2), ("ArrowDown", 0), ("ArrowDown", 1), ("End", 2), ("Home", 0)):
        await page.keyboard.press(key)
        await expect(options.nth(chosen)).to_have_attribute("aria-selected", "true")


async def test_letters_search_create_move_and_start(eyes: Eyes, eve: Person) -> None:
    await eve.workspace("shed", running=False)
    await eve.workspace("garden", running=False)
    page = await eyes.log_in(eve)
    await page.keyboard.press("/")
    await expect(page.get_by_role("searchbox")).to_be_focused()
    await page.keyboard.type("cs")
    await expect(page.get_by_role("searchbox")).to_have_value("cs")
    await expect(page.get_by_role("dialog")).to_be_hidden()
    await page.get_by_role("searchbox").fill("")
    await expect(page.locator(".card")).to_have_count(2)
    await page.get_by_role("searchbox").blur()
    for key, name in (("j", "garden"), ("j", "shed"), ("k", "garden"), ("j", "shed")):
        await page.keyboard.press(key)
        await expect(card(page, name).locator(":focus")).to_have_count(1)
    await page.keyboard.press("s")
    await expect(card(page, "shed").locator(".badge")).to_have_text("Running")
    await expect(card(page, "garden").locator(".badge")).to_have_text("Stopped")
    async with eyes.context.expect_page() as opened:
        await page.keyboard.press("o")
    await (await opened.value).wait_for_selector('text="path":')
    await page.bring_to_front()
    await page.keyboard.press("c")
    await expect(page.get_by_role("dialog").get_by_label("Name")).to_be_focused()


async def test_the_sheet_of_shortcuts_says_them_all(eyes: Eyes, eve: Person) -> None:
    page = await eyes.log_in(eve)
    await page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
    for said in ("Search workspaces", "New workspace", "To the next workspace", "Start it, or stop it"):
        await expect(sheet.get_by_text(said, exact=True)).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(sheet).to_be_hidden()


async def test_a_shortcut_counts_as_soon_as_the_palette_is_closed(eyes: Eyes, eve: Person) -> None:
    page = await eyes.log_in(eve)
    await seek(page, "")
    await page.evaluate("""() => {
        const [field, dialog] = [document.activeElement, document.querySelector("dialog")];
        dialog.close();
        field.dispatchEvent(new KeyboardEvent("keydown", { key: "?", bubbles: true, cancelable: true }));
    }""")
    await expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()


async def test_what_is_opened_in_the_moment_in_which_another_closes_stays(eyes: Eyes, eve: Person) -> None:
    page = await eyes.log_in(eve)
    await page.keyboard.press("?")
    keys = page.locator("dialog .keys")
    await expect(keys).to_be_visible()
    await page.evaluate("const dialog = document.querySelector('dialog'); dialog.close(); dialog.showModal()")
    for _ in range(2):
        await page.evaluate("new Promise(requestAnimationFrame)")
    await expect(keys).to_be_visible()


async def test_every_control_of_a_card_is_reached_by_tab_and_does_what_it_says(eyes: Eyes, eve: Person) -> None:
    garden = await eve.workspace("garden", running=False)
    await archived(eve, garden)
    page = await eyes.log_in(eve)
    await card(page, "garden").locator("[data-key=select]").focus()
    await page.keyboard.press("Space")
    await expect(page.get_by_label("Select garden")).to_be_checked()
    reached = ["select"]
    while reached[-1] != "delete" and len(reached) < 20:
        if reached[-1] == "more":
            await page.keyboard.press("Enter")
        await page.keyboard.press("Tab")
        reached.append(await page.evaluate("document.activeElement.dataset.key"))
    assert reached == ["select", "name", "open", "start", "more", "fork", "delete"]
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("link", name="Keep it")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog")).to_be_hidden()
    await card(page, "garden").locator("[data-key=open]").focus()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(card(page, "garden").locator(".badge")).to_have_text("Running")
