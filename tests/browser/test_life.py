"""The life of a workspace, seen from the dashboard: made, used, archived, woken, forked, deleted and brought back."""

import pytest
from playwright.async_api import expect

from tests.browser.eyes import Eyes, card
from tests.browser.homes import archived, home_of
from tests.front_door.chromium import needs_chromium
from tests.front_door.house import Person

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

ANSWERS = 'text="path":'
"""What the IDE of these tests says of every request."""


async def test_from_its_making_to_its_waking_it_keeps_its_files(eyes: Eyes, eve: Person) -> None:
    page = await eyes.log_in(eve)
    await page.get_by_role("link", name="Make your first workspace").click()
    await page.get_by_role("dialog").get_by_label("Name").fill("garden")
    await page.get_by_role("dialog").get_by_role("button", name="Make it").click()
    garden = card(page, "garden")
    await expect(garden.locator(".badge")).to_have_text("Running")
    async with eyes.context.expect_page() as opened:
        await garden.get_by_role("link", name="Open garden").click()
    ide = await opened.value
    await ide.wait_for_selector(ANSWERS)
    (made,) = (await eve.call("GET", "/workspaces")).json()["items"]
    (await home_of(eyes.codehub, made["id"])).joinpath("notes.txt").write_text("kept")
    await page.bring_to_front()
    await garden.get_by_role("button", name="Stop garden").click()
    await expect(garden.locator(".badge")).to_have_text("Stopped")
    await garden.locator("summary").click()
    await garden.get_by_role("button", name="Archive garden").click()
    await expect(garden.locator(".badge")).to_have_text("Archived")
    await ide.bring_to_front()
    await ide.goto(made["url"])
    await ide.wait_for_selector(ANSWERS)
    assert (await home_of(eyes.codehub, made["id"])).joinpath("notes.txt").read_text() == "kept"
    await page.bring_to_front()
    await expect(garden.locator(".badge")).to_have_text("Running")


async def test_a_fork_begins_where_its_source_was_archived(eyes: Eyes, eve: Person) -> None:
    await archived(eve, await eve.workspace("garden", running=False))
    page = await eyes.log_in(eve)
    garden = card(page, "garden")
    await garden.locator("summary").click()
    await garden.get_by_role("link", name="Fork garden").click()
    await page.get_by_role("dialog").get_by_label("Name").fill("orchard")
    await page.get_by_role("dialog").get_by_role("button", name="Fork").click()
    await expect(page.get_by_text("orchard is made from an archive of garden.")).to_be_visible()
    await expect(card(page, "orchard").locator(".badge")).to_have_text("Running")


async def test_what_was_deleted_is_brought_back(eyes: Eyes, eve: Person) -> None:
    garden = await eve.workspace("garden", running=False)
    await archived(eve, garden)
    assert (await eve.call("DELETE", f"/workspaces/{garden}")).status_code == 202
    page = await eyes.log_in(eve)
    await page.get_by_role("link", name="Deleted").click()
    await card(page, "garden").get_by_role("button", name="Bring back garden").click()
    await expect(page.get_by_text("garden comes back.")).to_be_visible()
    await page.goto(eyes.codehub.browser().home)
    await expect(card(page, "garden").locator(".badge")).to_have_text("Archived")


async def test_somebody_who_is_there_puts_its_sleep_off(eyes: Eyes, eve: Person) -> None:
    await eve.workspace("garden")
    page = await eyes.log_in(eve)
    garden = card(page, "garden")
    await expect(garden.get_by_text("not used yet")).to_be_visible()
    await garden.get_by_role("button", name="Extend garden").click()
    await expect(page.get_by_text("garden stays awake.")).to_be_visible()
    await expect(garden.get_by_text("last used just now")).to_be_visible()


async def test_several_are_deleted_together_unless_that_is_called_off(eyes: Eyes, eve: Person) -> None:
    await archived(eve, await eve.workspace("garden", running=False))
    await eve.workspace("shed", running=False)
    page = await eyes.log_in(eve)
    delete = page.locator("#bulk").get_by_role("button", name="Delete")
    await expect(delete).to_be_hidden()
    for is_called_off in (True, False):
        for name in ("garden", "shed"):
            await page.get_by_label(f"Select {name}").check()
        await delete.click()
        dialog = page.get_by_role("dialog", name="Delete 2 workspaces?")
        await expect(dialog.get_by_text("lost for good: shed.")).to_be_visible()
        await expect(dialog.get_by_text("With an archive: garden.")).to_be_visible()
        await dialog.get_by_role("button", name="Delete").click()
        await expect(page.locator(".card.leaving")).to_have_count(2)
        if is_called_off:
            await page.locator(".toast").get_by_role("button", name="Undo").click()
            await expect(page.locator(".card.leaving")).to_have_count(0)
    await expect(page.get_by_text("No workspace yet")).to_be_visible()
