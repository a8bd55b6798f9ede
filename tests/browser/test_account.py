"""One's own account, as its owner uses it."""

import httpx
import pytest
from playwright.async_api import Browser, expect

from tests.browser.eyes import Eyes
from tests.front_door.chromium import needs_chromium
from tests.front_door.house import House, Person
from tests.web.api.people import PASSWORD

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

NEW = "several words that nobody guesses"


async def answer_to(codehub: House, token: str) -> int:
    async with httpx.AsyncClient(base_url=codehub.url, trust_env=False, timeout=30) as client:
        answer = await client.get("/api/v1/me", headers={"Authorization": f"Bearer {token}"})
    return answer.status_code


async def test_a_token_is_made_shown_once_and_revoked(eyes: Eyes, eve: Person) -> None:
    page = await eyes.log_in(eve)
    await page.get_by_role("link", name="Account").click()
    await page.get_by_label("Name", exact=True).fill("laptop")
    await page.get_by_role("button", name="Make a token").click()
    secret = await page.locator("#secret").inner_text()
    assert await answer_to(eyes.codehub, secret) == 200
    await page.get_by_role("link", name="Account").click()
    await expect(page.get_by_role("button", name="Revoke laptop")).to_be_visible()
    await expect(page.get_by_text(secret)).to_have_count(0)
    await page.get_by_role("button", name="Revoke laptop").click()
    await expect(page.get_by_text("The token is revoked.")).to_be_visible()
    assert await answer_to(eyes.codehub, secret) == 401


async def test_a_new_password_ends_the_other_browsers(eyes: Eyes, eve: Person, browser: Browser) -> None:
    page = await eyes.log_in(eve)
    elsewhere = await Eyes(eyes.codehub, await browser.new_context()).log_in(eve)
    await page.get_by_role("link", name="Account").click()
    await expect(page.get_by_role("button", name="Log out everywhere else")).to_be_visible()
    await page.get_by_label("Present password").fill("not this one")
    await page.get_by_label("New password").fill(NEW)
    await page.get_by_role("button", name="Change the password").click()
    await expect(page.get_by_text("The present password is not the one that was given.")).to_be_visible()
    await page.get_by_label("Present password").fill(PASSWORD)
    await page.get_by_label("New password").fill(NEW)
    await page.get_by_role("button", name="Change the password").click()
    await expect(page.get_by_text("The password is changed")).to_be_visible()
    await elsewhere.goto(eyes.codehub.browser().home)
    await expect(elsewhere.get_by_role("heading", name="Log in to codehub")).to_be_visible()
    await elsewhere.fill("#login", eve.user.login)
    await elsewhere.fill("#password", NEW)
    await elsewhere.click("[data-submit]")
    await expect(elsewhere.get_by_role("heading", name="Workspaces")).to_be_visible()


async def test_a_browser_that_was_left_somewhere_is_logged_out_from_here(
    eyes: Eyes, eve: Person, browser: Browser
) -> None:
    elsewhere = await Eyes(eyes.codehub, await browser.new_context()).log_in(eve)
    page = await eyes.log_in(eve)
    await page.get_by_role("link", name="Account").click()
    await page.get_by_role("button", name="Log out 127.0.0.1").click()
    await expect(page.get_by_text("That browser is logged out.")).to_be_visible()
    await expect(elsewhere.get_by_role("heading", name="Log in to codehub")).to_be_visible()
