"""What holds for every page: no barrier that axe knows of, in either theme; nothing beyond the edge of a phone."""

import pytest
from playwright.async_api import expect

from tests.browser.eyes import Eyes, overflows, violations
from tests.front_door.chromium import needs_chromium
from tests.front_door.house import Person

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

PHONE = {"width": 360, "height": 740}
LONG = "a-name-without-any-place-to-break-it-that-is-as-long-as-allowed"


async def addresses(eve: Person) -> dict[str, str]:
    """Pages by what is on them when they are whole."""
    garden = await eve.workspace(LONG, running=False)
    return {
        "/": ".card",
        "/?q=nothing": "#list",
        "/?show=deleted": "#list",
        "/account": "#tokens",
        "/workspaces/new": "#template",
        f"/workspaces/{garden}/delete": "[data-dialog-content]",
        "/status": "table",
        "/nowhere": ".figure",
    }


@pytest.mark.parametrize(("theme", "language"), [("light", "en"), ("dark", "ko")])
async def test_no_page_has_a_barrier_or_is_wider_than_a_phone(
    eyes: Eyes, eve: Person, theme: str, language: str
) -> None:
    page = await eyes.page()
    await page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    home = eyes.codehub.browser().home
    await eyes.context.add_cookies(
        [
            {"name": f"codehub-{name}", "value": value, "url": home}
            for name, value in (("theme", theme), ("language", language))
        ]
    )
    await page.goto(f"{home}/login")
    found = {"/login": [*await violations(page), *await overflows(page)]}
    page = await eyes.log_in(eve)
    await page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    for path, whole in (await addresses(eve)).items():
        await page.goto(f"{home}{path}")
        await page.wait_for_selector(whole)
        await expect(page.locator("html")).to_have_attribute("lang", language)
        found[path] = [*await violations(page), *await overflows(page)]
    assert {path: wrong for path, wrong in found.items() if wrong} == {}
