"""The dashboard, as somebody uses it who works with it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from uuid import UUID

import asyncpg
import pytest
from playwright.async_api import Browser, expect

from tests.browser.eyes import Eyes, card
from tests.front_door.chromium import needs_chromium
from tests.front_door.house import Person

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

SEEN = """(isSeen) => {
  Object.defineProperty(document, "hidden", { value: !isSeen, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
"""What a browser tells a page when somebody goes to another tab. One without a screen never does so by itself."""


async def test_a_workspace_is_made_watched_stopped_and_the_stop_undone(eyes: Eyes, eve: Person) -> None:
    page = await eyes.log_in(eve)
    await page.get_by_role("link", name="Make your first workspace").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("a/b")
    await dialog.get_by_role("button", name="Make it").click()
    await expect(dialog.get_by_text("A name is on one line")).to_be_visible()
    await dialog.get_by_label("Name").fill("garden")
    await dialog.get_by_role("button", name="Make it").click()
    await expect(dialog).to_be_hidden()
    await expect(page.get_by_text("garden is made.")).to_be_visible()
    garden = card(page, "garden")
    await expect(garden.locator(".badge")).to_have_text("Running")
    await expect(garden.get_by_text("Sleeps in")).to_be_visible()
    await garden.get_by_role("button", name="Stop garden").click()
    await page.locator(".toast").get_by_role("button", name="Undo").click()
    await expect(page.get_by_text("garden starts.")).to_be_visible()
    await expect(garden.locator(".badge")).to_have_text("Running")


async def test_it_is_opened_from_its_card(eyes: Eyes, eve: Person) -> None:
    await eve.workspace("garden")
    page = await eyes.log_in(eve)
    async with eyes.context.expect_page() as opened:
        await card(page, "garden").get_by_role("link", name="Open garden").click()
    ide = await opened.value
    await ide.wait_for_selector('text="path":')


async def test_a_second_tab_shows_the_same(eyes: Eyes, eve: Person) -> None:
    await eve.workspace("garden", running=False)
    first = await eyes.log_in(eve)
    second = await eyes.page()
    await second.goto(first.url)
    await second.bring_to_front()
    await expect(card(second, "garden").locator(".badge")).to_have_text("Stopped")
    await first.bring_to_front()
    await card(first, "garden").get_by_role("button", name="Start garden").click()
    await expect(card(first, "garden").locator(".badge")).to_have_text("Running")
    await second.bring_to_front()
    await expect(card(second, "garden").locator(".badge")).to_have_text("Running")


async def test_a_second_window_shows_it_while_both_are_looked_at(eyes: Eyes, eve: Person, browser: Browser) -> None:
    await eve.workspace("garden", running=False)
    first = await eyes.log_in(eve)
    second = await Eyes(eyes.codehub, await browser.new_context()).log_in(eve)
    await expect(card(second, "garden").locator(".badge")).to_have_text("Stopped")
    await card(first, "garden").get_by_role("button", name="Start garden").click()
    await expect(card(second, "garden").locator(".badge")).to_have_text("Running")


async def test_a_tab_that_nobody_looks_at_says_in_its_title_what_has_ended(eyes: Eyes, eve: Person) -> None:
    garden = await eve.workspace("garden", running=False)
    page = await eyes.log_in(eve)
    await expect(card(page, "garden").locator(".badge")).to_have_text("Stopped")
    await page.evaluate(SEEN, False)
    await eve.call("POST", f"/workspaces/{garden}/start")
    await expect(page).to_have_title("(1) garden is running · codehub")
    await page.evaluate(SEEN, True)
    await expect(page).to_have_title("Workspaces · codehub")


async def test_a_deletion_can_be_called_off_before_it_is_asked_for(eyes: Eyes, eve: Person) -> None:
    await eve.workspace("garden", running=False)
    page = await eyes.log_in(eve)
    garden = card(page, "garden")
    await garden.locator("summary").click()
    await garden.get_by_role("link", name="Delete garden").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_text("cannot be undone")).to_be_visible()
    await dialog.get_by_role("button", name="Delete").click()
    await page.locator(".toast").get_by_role("button", name="Undo").click()
    await expect(page.locator(".toast")).to_have_count(0)
    await expect(page.locator(".leaving")).to_have_count(0)
    assert (await eve.call("GET", "/workspaces")).json()["items"][0]["desired_state"] == "STANDBY"


async def test_a_deletion_that_nobody_calls_off_is_done(eyes: Eyes, eve: Person) -> None:
    await eve.workspace("garden", running=False)
    page = await eyes.log_in(eve)
    await card(page, "garden").locator("summary").click()
    await page.get_by_role("link", name="Delete garden").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("No workspace yet")).to_be_visible()
    assert (await eve.call("GET", "/workspaces")).json()["items"] == []


async def test_what_was_missed_while_the_network_was_cut_is_put_right(eyes: Eyes, eve: Person) -> None:
    garden = await eve.workspace("garden", running=False)
    page = await eyes.log_in(eve)
    await expect(card(page, "garden").locator(".badge")).to_have_text("Stopped")
    await page.evaluate("() => { window.isSame = true; }")
    await eyes.context.set_offline(True)
    await card(page, "garden").get_by_role("button", name="Start garden").click()
    await expect(page.get_by_text("codehub gave no answer")).to_be_visible()
    await eve.call("POST", f"/workspaces/{garden}/start")
    await eve.until_phase(garden, "RUNNING")
    await eyes.context.set_offline(False)
    await expect(card(page, "garden").locator(".badge")).to_have_text("Running")
    assert await page.evaluate("window.isSame")


async def test_several_are_searched_for_and_started_together(eyes: Eyes, eve: Person) -> None:
    for name in ("garden", "green house", "shed"):
        await eve.workspace(name, running=False)
    page = await eyes.log_in(eve)
    await page.get_by_role("searchbox").fill("g")
    await expect(page.locator(".card")).to_have_count(2)
    await page.get_by_label("Select all on this page").check()
    await page.locator("#bulk").get_by_role("button", name="Start").click()
    await expect(page.get_by_text("2 workspaces start.")).to_be_visible()
    await expect(page.locator(".badge.running")).to_have_count(2)
    await page.get_by_role("searchbox").fill("")
    await expect(page.locator(".card")).to_have_count(3)
    await page.get_by_role("link", name="Stopped").click()
    await expect(page.locator(".card h2")).to_have_text(["shed"])


async def test_the_focus_stays_where_it_is_while_a_card_changes(eyes: Eyes, eve: Person) -> None:
    garden = await eve.workspace("garden", running=False)
    page = await eyes.log_in(eve)
    more = card(page, "garden").locator("summary")
    await more.click()
    await more.focus()
    await eve.call("POST", f"/workspaces/{garden}/start")
    await expect(card(page, "garden").locator(".badge")).to_have_text("Running")
    await expect(card(page, "garden").locator("details")).to_have_attribute("open", "")
    assert await page.evaluate("document.activeElement.dataset.key") == "more"


async def test_a_stop_needs_no_mouse(eyes: Eyes, eve: Person) -> None:
    await eve.workspace("garden")
    page = await eyes.log_in(eve)
    await expect(card(page, "garden").locator(".badge")).to_have_text("Running")
    for _ in range(60):
        await page.keyboard.press("Tab")
        if await page.evaluate("document.activeElement.dataset.key") == "stop":
            break
    await page.keyboard.press("Enter")
    await expect(card(page, "garden").locator(".badge")).to_have_text("Stopped")


async def test_the_page_answers_while_changes_pour_in(eyes: Eyes, eve: Person) -> None:
    garden = await eve.workspace("garden", running=False)
    page = await eyes.log_in(eve)
    async with changing(eyes.codehub.database_url, garden):
        await page.keyboard.press("c")
        await page.get_by_role("dialog").get_by_label("Name").fill("shed")
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_be_hidden()
        await card(page, "garden").locator("summary").click()
        await card(page, "garden").get_by_role("link", name="Delete garden").click()
        await page.get_by_role("link", name="Keep it").click()
    await expect(card(page, "garden").get_by_text("the last change")).to_be_visible()


@asynccontextmanager
async def changing(database_url: str, workspace_id: UUID) -> AsyncIterator[None]:
    """A hundred changes a second meanwhile, and one more at the end."""
    change = "UPDATE workspaces SET description = $2 WHERE id = $1"
    connection = await asyncpg.connect(database_url)
    is_over = asyncio.Event()

    async def pour() -> None:
        number = 0
        while not is_over.is_set():
            await connection.execute(change, workspace_id, f"change {(number := number + 1)}")
            with suppress(TimeoutError):
                await asyncio.wait_for(is_over.wait(), 0.01)
        await connection.execute(change, workspace_id, "the last change")

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(pour())
            try:
                yield
            finally:
                is_over.set()
    finally:
        await connection.close()
