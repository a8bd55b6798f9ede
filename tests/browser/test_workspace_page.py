"""The page of one workspace, as its owner uses it."""

from uuid import UUID

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.eyes import Eyes, card
from tests.front_door.chromium import needs_chromium
from tests.front_door.house import Person

pytestmark = [needs_chromium, pytest.mark.timeout(300)]


async def look_at(eyes: Eyes, owner: Person, name: str) -> Page:
    """Over its card, and live: with the first snapshot all that changes by itself is asked for again."""
    page = await eyes.log_in(owner)
    async with page.expect_response(lambda answer: "/fragments/workspaces/" in answer.url):
        await card(page, name).get_by_role("link", name=name, exact=True).click()
    return page


def section(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


async def archived(owner: Person) -> UUID:
    garden = await owner.workspace("garden", running=False)
    await owner.call("POST", f"/workspaces/{garden}/archive")
    await owner.until_phase(garden, "ARCHIVED", 150)
    return garden


async def test_its_story_goes_on_while_it_is_looked_at(eyes: Eyes, eve: Person) -> None:
    await eve.workspace("garden")
    page = await look_at(eyes, eve, "garden")
    chapters = section(page, "Timeline").get_by_role("list").first.locator("> li")
    await expect(chapters).to_have_count(1)
    await expect(section(page, "Conditions").get_by_text("The IDE runs and answers.")).to_be_visible()
    await page.get_by_role("button", name="Stop garden").click()
    await expect(page.locator("#now .badge")).to_have_text("Stopped")
    await expect(chapters).to_have_count(2)
    newest = chapters.first
    await expect(newest).to_contain_text(f"{eve.user.login} asked for it")
    await expect(newest.get_by_role("list", name="Where the time went")).to_contain_text("Stopping")
    await expect(newest.locator("svg.spent rect.stopping")).to_be_visible()
    await newest.get_by_text("steps").click()
    await expect(newest.get_by_text("Now: Stopped")).to_be_visible()
    await expect(section(page, "Conditions").get_by_text("Nothing runs.")).to_be_visible()


async def test_its_log_arrives_as_it_is_printed_and_is_searched(eyes: Eyes, eve: Person) -> None:
    garden = await eve.workspace("garden")
    page = await look_at(eyes, eve, "garden")
    log = page.get_by_role("log")
    await expect(log.get_by_text("listening")).to_be_visible()
    visitor = await eve.at(garden)
    await visitor.open(f"{visitor.origin(garden)}/print/an-Apple-a-day")
    await expect(log.get_by_text("an-Apple-a-day")).to_be_visible()
    await section(page, "Log").get_by_role("searchbox").fill("apple")
    await expect(log.locator("mark")).to_have_text("Apple")
    await expect(log.get_by_text("listening")).to_be_hidden()
    await visitor.open(f"{visitor.origin(garden)}/print/another-apple")
    await expect(log.locator("mark")).to_have_count(2)
    await section(page, "Log").get_by_role("searchbox").fill("pear")
    await expect(page.get_by_text("No line matches.")).to_be_visible()
    async with page.expect_download() as file:
        await section(page, "Log").get_by_role("link", name="Download").click()
    assert "another-apple\n" in (await (await file.value).path()).read_text()
    without_script = (await visitor.open(f"{visitor.home}/workspaces/{garden}?find=APPLE")).text
    assert "another-<mark>apple</mark>" in without_script
    assert "<div>listening</div>" not in without_script


async def test_an_archive_is_kept_downloaded_forked_and_restored(eyes: Eyes, eve: Person) -> None:
    await archived(eve)
    page = await look_at(eyes, eve, "garden")
    archives = section(page, "Archives")
    await archives.get_by_role("button", name="Keep: archive 1").click()
    await expect(page.get_by_text("Archive 1 is kept")).to_be_visible()
    await expect(archives.get_by_role("button", name="Let go: archive 1")).to_be_visible()
    async with page.expect_download() as file:
        await archives.get_by_role("link", name="Download: archive 1").click()
    assert (await file.value).suggested_filename.startswith("garden-1-")
    await archives.get_by_role("link", name="Fork: archive 1").click()
    await page.get_by_role("dialog").get_by_label("Name").fill("copy")
    await page.get_by_role("dialog").get_by_role("button", name="Fork").click()
    await expect(page.get_by_text("copy is made from an archive of garden.")).to_be_visible()
    await archives.get_by_role("link", name="Restore: archive 1").click()
    await page.get_by_role("dialog").get_by_role("button", name="Restore").click()
    await expect(section(page, "Timeline").get_by_text("Bring back older files")).to_be_visible()


async def test_it_is_held_and_let_go(eyes: Eyes, eve: Person) -> None:
    await eve.workspace("garden")
    page = await look_at(eyes, eve, "garden")
    holds = section(page, "Holds")
    await expect(holds.get_by_text("Nothing holds it.")).to_be_visible()
    await holds.get_by_label("What for").fill("nightly build")
    await holds.get_by_role("button", name="Keep it awake").click()
    release = holds.get_by_role("button", name="Release nightly build")
    await expect(release).to_be_visible()
    await expect(holds.get_by_label("What for")).to_have_value("")
    await expect(page.locator("#now").get_by_text("Kept awake until")).to_be_visible()
    await release.click()
    await expect(holds.get_by_text("Nothing holds it.")).to_be_visible()


async def test_its_settings_are_changed_and_what_is_wrong_is_not_lost(eyes: Eyes, eve: Person) -> None:
    garden = await eve.workspace("garden", running=False)
    page = await look_at(eyes, eve, "garden")
    settings = section(page, "Settings")
    await settings.get_by_label("Name").fill("a/b")
    await settings.get_by_label("Description").fill("The shop")
    await settings.get_by_label("Sleep when unused for").select_option(label="1 h")
    await settings.get_by_role("button", name="Save").click()
    await expect(settings.get_by_text("A name is on one line")).to_be_visible()
    await expect(settings.get_by_label("Name")).to_be_focused()
    await expect(settings.get_by_label("Description")).to_have_value("The shop")
    await settings.get_by_label("Name").fill("orchard")
    await settings.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("The settings are saved.")).to_be_visible()
    await expect(page.get_by_role("heading", level=1)).to_have_text("orchard")
    now = (await eve.call("GET", f"/workspaces/{garden}")).json()
    assert (now["name"], now["description"], now["standby_after_seconds"]) == ("orchard", "The shop", 3600)


async def test_it_is_deleted_and_its_page_says_so(eyes: Eyes, eve: Person) -> None:
    await archived(eve)
    page = await look_at(eyes, eve, "garden")
    await section(page, "Danger zone").get_by_role("link", name="Delete").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_text("can be brought back")).to_be_visible()
    await dialog.get_by_role("button", name="Delete").click()
    await expect(page.locator("#now .badge")).to_have_text("Deleted")
    await page.get_by_role("button", name="Bring back garden").click()
    await expect(page.locator("#now .badge")).to_have_text("Archived")


async def test_nobody_else_finds_it(eyes: Eyes, eve: Person) -> None:
    garden = await eve.workspace("garden", running=False)
    stranger = await eyes.codehub.person()
    page = await eyes.log_in(stranger)
    await page.goto(f"{eyes.codehub.browser().home}/workspaces/{garden}")
    await expect(page.get_by_role("heading", name="Not found")).to_be_visible()
