"""What holds for every page for administrators: no barrier, in either theme; nothing beyond the edge of a phone."""

import pytest
from playwright.async_api import expect

from tests.browser.eyes import Eyes, overflows, violations
from tests.front_door.chromium import needs_chromium
from tests.front_door.house import Person

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

LONG = "a-name-without-any-place-to-break-it-that-is-as-long-as-allowed"


@pytest.mark.parametrize(("theme", "language"), [("light", "ko"), ("dark", "en")])
async def test_no_page_for_administrators_has_a_barrier_or_is_wider_than_a_phone(
    eyes: Eyes, boss: Person, eve: Person, theme: str, language: str
) -> None:
    await eve.workspace(LONG, running=False)
    [template] = (await boss.call("GET", "/admin/templates")).json()["items"][:1]
    await boss.call("POST", "/admin/gc/rounds")
    await eyes.choose(theme=theme, language=language)
    page = await eyes.log_in(boss)
    await page.set_viewport_size({"width": 360, "height": 740})
    found = {}
    of_eve, of_templates = f"/users/{eve.user.id}", f"/templates/{template['id']}"
    for path in (
        *("", "/users", "/users/new", of_eve, f"{of_eve}/delete", "/workspaces", "/coordinators"),
        *("/collector", "/collector/preview", "/templates", of_templates, "/audit"),
    ):
        await page.goto(f"{eyes.codehub.browser().home}/admin{path}")
        await expect(page.locator("html")).to_have_attribute("lang", language)
        await expect(page.locator("h1")).to_have_count(1)
        if path == "/collector":
            await page.locator(".rounds summary").first.click()
        found[path] = [*await violations(page), *await overflows(page)]
    assert {path: wrong for path, wrong in found.items() if wrong} == {}
