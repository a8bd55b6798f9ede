"""The pages for administrators, as one of them uses them."""

import httpx
import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.eyes import Eyes
from tests.coordinators.house import until
from tests.coordinators.sessions import kill_leader, office
from tests.front_door.chromium import needs_chromium
from tests.front_door.house import House, Person

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

PAGES = ("", "/users", "/users/new", "/workspaces", "/coordinators", "/collector", "/templates", "/audit")
IDLE_TIMES = "coordinator:ttl"


async def at(eyes: Eyes, boss: Person, path: str = "") -> Page:
    """An administrator who has logged in and gone there."""
    page = await eyes.log_in(boss)
    await page.goto(f"{eyes.codehub.browser().home}/admin{path}")
    return page


def row(page: Page, words: str) -> Locator:
    return page.locator(".rows > li", has_text=words)


def question(page: Page) -> Locator:
    """What asks first: over the page, or a page of its own for whoever is faster than the script."""
    return page.locator("[data-dialog-content]")


async def log_in(house: House, login: str, password: str) -> int:
    async with httpx.AsyncClient(base_url=house.url, trust_env=False, timeout=30) as client:
        return (await client.post("/api/v1/auth/login", json={"login": login, "password": password})).status_code


async def test_somebody_who_does_not_administer_sees_none_of_it(eyes: Eyes, eve: Person) -> None:
    page = await eyes.log_in(eve)
    pages = page.get_by_role("navigation", name="Pages")
    await expect(pages.get_by_role("link")).to_have_text(["Workspaces", "Account"])
    for path in PAGES:
        answer = await page.goto(f"{eyes.codehub.browser().home}/admin{path}")
        assert answer is not None
        assert answer.status == 403, path
        await expect(page.get_by_role("alert")).to_have_text("Only an administrator may do this.")


async def test_an_account_is_made_limited_and_disabled(eyes: Eyes, boss: Person, codehub: House) -> None:
    login = f"new-{boss.user.login}"
    page = await eyes.log_in(boss)
    await page.get_by_role("link", name="Admin", exact=True).click()
    await page.get_by_role("link", name="Users", exact=True).click()
    await page.get_by_role("link", name="New user").click()
    await page.get_by_label("Login").fill(login)
    await page.get_by_role("button", name="Make the account").click()
    await expect(page.get_by_role("status").filter(has_text=f"The account {login} is made.")).to_be_visible()
    password = await page.locator("#secret").inner_text()
    assert await log_in(codehub, login, password) == 200
    await page.get_by_label("Workspaces that may run").fill("1")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text(f"{login} is changed.")).to_be_visible()
    await expect(page.locator("#secret")).to_have_count(0)
    await page.get_by_role("link", name="Disable").click()
    await question(page).get_by_role("button", name="Disable").click()
    await expect(page.get_by_text(f"{login} is disabled, and logged out everywhere.")).to_be_visible()
    assert await log_in(codehub, login, password) == 403
    await page.get_by_role("link", name="Users", exact=True).click()
    await page.get_by_label("Search by login").fill(login)
    await expect(page.locator("#users li")).to_have_count(1)
    await expect(row(page, login)).to_contain_text("1 may run")
    await expect(row(page, login).locator(".badge")).to_have_text("Disabled")


async def test_everybodys_workspaces_are_narrowed_and_stopped_together(eyes: Eyes, boss: Person, eve: Person) -> None:
    await eve.workspace("garden")
    await eve.workspace("shed", running=False)
    page = await at(eyes, boss, "/workspaces")
    await page.get_by_label("Owner").fill(eve.user.login)
    names = page.locator("#everybodys li strong")
    await expect(names).to_have_text(["shed", "garden"])
    await page.get_by_label("Sort by").select_option("Name")
    await expect(names).to_have_text(["garden", "shed"])
    await page.get_by_label("State").select_option("Running")
    await expect(names).to_have_text(["garden"])
    await page.get_by_label("Select all on this page").check()
    await page.get_by_role("button", name="Stop").click()
    await expect(page.get_by_text("garden is stopped.")).to_be_visible()
    await page.get_by_label("State").select_option("Stopped")
    await expect(names).to_have_text(["garden", "shed"])
    await expect(row(page, "garden").locator(".badge")).to_have_text("Stopped")


async def test_who_leads_is_right_again_after_somebody_else_took_over(eyes: Eyes, boss: Person, codehub: House) -> None:
    page = await at(eyes, boss, "/coordinators")
    idle_times = row(page, "Idle times")
    await expect(idle_times.locator(".badge")).to_have_text("At work")
    holder, before, _ = await office(codehub.database_url, IDLE_TIMES)
    await expect(idle_times).to_contain_text(f"led by {holder}")
    await kill_leader(codehub.database_url, IDLE_TIMES)

    async def is_shown() -> bool | None:
        _, epoch, _ = await office(codehub.database_url, IDLE_TIMES)
        return (epoch > before and f" {epoch - 1} takeover" in await idle_times.inner_text()) or None

    await until(is_shown, 60)
    await expect(idle_times.locator(".badge")).to_have_text("At work")


async def test_a_round_of_the_collector_tells_what_stays_and_why(
    eyes: Eyes, boss: Person, eve: Person, codehub: House
) -> None:
    await eve.workspace("garden", running=False)
    at_rest = "SELECT true WHERE NOT EXISTS (SELECT FROM gc_rounds WHERE ended_at IS NULL)"
    await until(lambda: codehub.fetchval(at_rest), 60)
    page = await at(eyes, boss, "/collector")
    await page.get_by_role("button", name="Start a round").click()
    await expect(page.get_by_text("A round is made as soon as possible.")).to_be_visible()
    asked = row(page, f"asked for by {boss.user.login}")
    await expect(asked.locator(".badge")).to_have_text("Done")
    await asked.locator("summary").click()
    await expect(asked.get_by_text("it is the home of a workspace")).to_be_visible()
    await page.get_by_role("link", name="Dry run").click()
    await expect(page.get_by_text("Nothing was removed, and nothing noted.")).to_be_visible()
    await expect(page.get_by_text("it is the home of a workspace")).to_be_visible()


async def test_a_template_is_made_changed_and_deleted(eyes: Eyes, boss: Person) -> None:
    name = f"template-{boss.user.login}"
    page = await at(eyes, boss, "/templates")
    await expect(row(page, "code-server").first.locator(".badge")).to_have_text("Ready")
    await page.get_by_role("link", name="New template").click()
    await page.get_by_label("Name").fill(name)
    await page.get_by_label("Image").fill("not an image")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("alert").filter(has_text="not valid")).to_be_visible()
    await page.get_by_label("Image").fill("registry.example.org/ide:1")
    await page.get_by_role("button", name="Save").click()
    await expect(row(page, name)).to_contain_text("registry.example.org/ide:1")
    await page.get_by_role("link", name=name).click()
    await page.get_by_label("Memory (GB)").fill("1.5")
    await page.get_by_role("button", name="Save").click()
    await expect(row(page, name)).to_contain_text("1.5 GB of memory")
    await page.get_by_role("link", name=name).click()
    await page.get_by_role("link", name="Delete the template").click()
    await question(page).get_by_role("button", name="Delete the template").click()
    await expect(page.get_by_text(f"The template {name} is deleted.")).to_be_visible()
    await expect(row(page, name)).to_have_count(0)


async def test_the_audit_log_shows_what_was_just_done_by_whom(eyes: Eyes, boss: Person, eve: Person) -> None:
    page = await at(eyes, boss, "/audit")
    await page.get_by_label("Who").fill(eve.user.login)
    await expect(page.get_by_text("No entry matches.")).to_be_visible()
    await eve.workspace("garden", running=False)
    await expect(row(page, "workspace.create")).to_contain_text("garden")
    await page.get_by_label("What").select_option("Users")
    await expect(page.get_by_text("No entry matches.")).to_be_visible()
    await page.get_by_label("What").select_option("Workspaces")
    await expect(row(page, eve.user.login)).to_have_count(1)


async def test_the_overview_tells_how_each_part_does_and_leads_to_more(eyes: Eyes, boss: Person, eve: Person) -> None:
    await eve.workspace("garden", running=False)
    page = await at(eyes, boss)
    for part in ("Database", "Disk of the database", "Redis", "Where workspaces run"):
        one = page.locator(".rows > li", has=page.get_by_text(part, exact=True))
        await expect(one.locator(".badge")).to_have_text("ok")
    await page.get_by_role("link", name="Stopped").click()
    await expect(page.get_by_label("State")).to_have_value("STANDBY")
    await page.get_by_label("Owner").fill(eve.user.login)
    await expect(page.locator("#everybodys li strong")).to_have_text(["garden"])
