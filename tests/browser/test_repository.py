"""A repository that a workspace is made with: named in the form, and what became of it told on its page."""

import pytest
from playwright.async_api import expect

from tests.browser.eyes import Eyes, card, overflows, violations
from tests.front_door.chromium import needs_chromium
from tests.front_door.house import Person

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

NOBODY = "http://127.0.0.1:1/shop/garden.git"


async def test_it_is_named_in_the_form_and_why_it_failed_is_on_the_page(eyes: Eyes, eve: Person) -> None:
    page = await eyes.log_in(eve)
    await page.goto(f"{eyes.codehub.browser().home}/workspaces/new")
    await page.get_by_label("Name", exact=True).fill("garden")
    repository = page.get_by_label("Git repository")
    await repository.fill("https://eve:secret@git.example.org/garden.git")
    await page.get_by_role("button", name="Make it").click()
    await expect(page.get_by_text("without a password")).to_be_visible()
    await expect(repository).to_have_attribute("aria-invalid", "true")
    assert (await violations(page), await overflows(page)) == ([], [])
    await repository.fill(NOBODY)
    await page.get_by_role("button", name="Make it").click()
    await card(page, "garden").get_by_role("link", name="garden", exact=True).click()
    chapter = page.get_by_role("region", name="Timeline", exact=True).get_by_role("listitem").filter(has_text="Made")
    await expect(chapter.first).to_contain_text("Its repository could not be cloned")
    await chapter.first.get_by_text("steps").click()
    await expect(chapter.first.get_by_text("unable to access").first).to_be_visible()
