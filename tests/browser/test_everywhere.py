"""What holds for every page: valid HTML without a script or style inside, no barrier that axe knows of in either theme,
nothing beyond the edge of a phone in either language."""

from collections.abc import Mapping
from typing import Literal

import pytest
from playwright.async_api import Browser, Page, ViewportSize, expect

from codehub.web.static_files import FOLDER
from tests.browser.eyes import Eyes, faults, mistakes
from tests.browser.homes import archived
from tests.front_door.chromium import needs_chromium
from tests.front_door.house import House, Person

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

PHONE: ViewportSize = {"width": 360, "height": 740}
LONG = "a-name-without-any-place-to-break-it-that-is-as-long-as-allowed"
BOTH = pytest.mark.parametrize(("theme", "language"), [("light", "en"), ("dark", "ko")])
CLI = f"/cli-login?challenge={'c' * 43}&state={'s' * 16}&port=45678&name=laptop"
MOST_SCRIPT_BYTES = 100_000

Theme = Literal["light", "dark"]
Found = dict[str, list[str]]


async def looked_at(page: Page, home: str, language: str, pages: Mapping[str, str]) -> Found:
    """What is wrong with pages, given by what is on them when they are whole."""
    await page.set_viewport_size(PHONE)
    found: Found = {}
    for path, whole in pages.items():
        answer = await page.goto(path if path.startswith("http") else f"{home}{path}")
        assert answer is not None
        await page.wait_for_selector(whole)
        await expect(page.locator("html")).to_have_attribute("lang", language)
        found[path] = [*mistakes(await answer.text()), *await faults(page)]
    return {path: wrong for path, wrong in found.items() if wrong}


@BOTH
async def test_lists_and_tables(eyes: Eyes, eve: Person, theme: str, language: str) -> None:
    await eyes.choose(theme=theme, language=language)
    garden = await eve.workspace(LONG, running=False)
    page = await eyes.page()
    home = eyes.codehub.browser().home
    assert await looked_at(page, home, language, {"/login": "#login"}) == {}
    await eyes.enter(page, eve)
    await page.wait_for_selector("#list")
    pages = {
        "/": ".card",
        "/?q=nothing": "#list",
        "/?show=deleted": "#list",
        f"/workspaces/{garden}": "#danger",
        "/account": "#tokens",
        "/status": "table",
        "/nowhere": ".figure",
    }
    assert await looked_at(page, home, language, pages) == {}


@BOTH
async def test_questions(eyes: Eyes, eve: Person, theme: str, language: str) -> None:
    await eyes.choose(theme=theme, language=language)
    shed = await eve.workspace("shed", running=False)
    garden = await eve.workspace(LONG, running=False)
    await archived(eve, garden)
    page = await eyes.page()
    await eyes.enter(page, eve)
    await page.wait_for_selector("#list")
    asked = ("delete", "fork", "restore", "start_empty", "recover", f"instead-of/{shed}")
    pages = {
        "/workspaces/new": "#template",
        "/shortcuts": ".keys",
        CLI: ".code",
        **{f"/workspaces/{garden}/{question}": ".panel form" for question in asked},
    }
    assert await looked_at(page, eyes.codehub.browser().home, language, pages) == {}


@BOTH
async def test_what_opens_over_the_dashboard(eyes: Eyes, eve: Person, theme: str, language: str) -> None:
    await eyes.choose(theme=theme, language=language)
    await eve.workspace(LONG)
    page = await eyes.log_in(eve)
    await page.set_viewport_size(PHONE)
    found: Found = {}
    for opened, key in (("#commands", "Control+k"), (".keys", "?"), ("#template", "c")):
        await page.keyboard.press(key)
        await page.wait_for_selector(f"dialog {opened}")
        found[opened] = await faults(page)
        await page.keyboard.press("Escape")
        await expect(page.locator("dialog")).to_be_hidden()
    await page.locator(".card input[type=checkbox]").check()
    for menu in (".bar summary", ".card summary"):
        await page.locator(menu).click()
        found[menu] = await faults(page)
    assert {opened: wrong for opened, wrong in found.items() if wrong} == {}


@BOTH
async def test_in_the_place_of_a_workspace(browser: Browser, codehub: House, theme: Theme, language: str) -> None:
    """These look as the system does. Without its script, the page of one that sleeps stays what it is."""
    bob = await codehub.person(max_running=1, locale=language)
    shed = await bob.workspace("shed")
    pond = await bob.workspace(LONG, running=False)
    broken = await bob.workspace("barn", running=False)
    await codehub.fetchval("UPDATE workspaces SET phase = 'ERROR', error_reason = 'Timeout' WHERE id = $1", broken)
    context = await browser.new_context(color_scheme=theme, locale=language)
    await context.route("**/static/waking.js", lambda route: route.abort())
    eyes = Eyes(codehub, context)
    page = await eyes.page()
    await eyes.enter(page, bob)
    await page.wait_for_selector("#list")
    of = codehub.browser().origins.address
    await page.goto(of(shed))
    await page.wait_for_selector('text="path":')
    full = {f"{of(shed)}.codehub/": "form button", of(pond): ".choices", of(broken): ".trouble"}
    assert await looked_at(page, "", language, full) == {}
    await bob.call("POST", f"/workspaces/{shed}/stop")
    await bob.until_phase(shed, "STANDBY")
    assert await looked_at(page, "", language, {of(pond): "#wake button"}) == {}
    assert eyes.complaints == []


async def test_a_workspace_is_woken_without_a_script(browser: Browser, codehub: House, eve: Person) -> None:
    shed = await eve.workspace("shed", running=False)
    eyes = Eyes(codehub, await browser.new_context(java_script_enabled=False))
    page = await eyes.page()
    await eyes.enter(page, eve)
    await page.goto(codehub.browser().origins.address(shed))
    await page.get_by_role("button", name="Wake it").click()
    await page.wait_for_selector('text="path":')  # the page that waits goes on by itself


def test_all_scripts_together_are_small() -> None:
    assert sum(script.stat().st_size for script in FOLDER.rglob("*.js")) < MOST_SCRIPT_BYTES
