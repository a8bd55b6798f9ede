"""Pictures of the dashboard for README and docs, from the real thing: `scripts/screenshots`, which runs this file."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin
from uuid import UUID

import anyio
import pytest
from playwright.async_api import Browser, Page, ViewportSize

from tests.browser.eyes import Eyes
from tests.browser.homes import archived, lose_home
from tests.front_door.chromium import needs_chromium
from tests.front_door.house import House, Person

pytestmark = [needs_chromium, pytest.mark.timeout(600)]

FOLDER = Path(os.environ.get("CODEHUB_SCREENSHOTS", "docs/screenshots"))
DESKTOP: ViewportSize = {"width": 1200, "height": 800}
PHONE: ViewportSize = {"width": 360, "height": 740}
LOOKS = [("en", "light"), ("en", "dark"), ("ko", "light"), ("ko", "dark")]


@dataclass(frozen=True)
class Scene:
    name: str
    address: str
    shown: str
    """What is there when the page is whole."""
    size: ViewportSize
    looks: Sequence[tuple[str, str]]
    """Languages and themes."""
    keys: str = ""
    """Pressed before the picture is taken."""


SCENES = (
    Scene("dashboard", "/?sort=name", ".use", DESKTOP, LOOKS),
    Scene("dashboard-phone", "/?sort=name", ".use", PHONE, LOOKS),
    Scene("palette", "/?sort=name", ".use", DESKTOP, [("en", "dark")], "Control+k"),
    Scene("workspace", "/workspaces/{api}", "h1", DESKTOP, [("en", "light"), ("ko", "dark")]),
)


async def furnished(person: Person) -> UUID:
    """Workspaces in every state that one meets; the one to look at more closely."""
    for name, description in (("api", "Orders and payments"), ("thesis", "")):
        body = {"name": name, "description": description, "template": "code-server", "desired_state": "RUNNING"}
        assert (await person.call("POST", "/workspaces", body)).status_code == 201
    kept = {each["name"]: UUID(each["id"]) for each in (await person.call("GET", "/workspaces")).json()["items"]}
    for each in kept.values():
        await person.until_phase(each, "RUNNING")
    hold = {"reason": "integration tests", "seconds": 7200}
    assert (await person.call("POST", f"/workspaces/{kept['api']}/holds", hold)).status_code == 201
    notes = await person.workspace("notes", running=False)
    await archived(person, notes)
    lost = await person.workspace("prototype", running=False)
    await archived(person, lost)
    await lose_home(person, lost)
    await person.workspace("website", running=False)
    return kept["api"]


async def test_pictures(browser: Browser, codehub: House) -> None:
    person = await codehub.person(login="ada", max_running=5)
    api = await furnished(person)
    await anyio.Path(FOLDER).mkdir(parents=True, exist_ok=True)
    for language, theme in LOOKS:
        eyes = Eyes(codehub, await browser.new_context(viewport=DESKTOP, timezone_id="Asia/Seoul"))
        await eyes.choose(language=language, theme=theme)
        page = await eyes.log_in(person)
        for scene in (each for each in SCENES if (language, theme) in each.looks):
            await take(page, scene, api, f"{scene.name}-{language}-{theme}.png")


async def take(page: Page, scene: Scene, api: UUID, name: str) -> None:
    await page.set_viewport_size(scene.size)
    await page.goto(urljoin(page.url, scene.address.format(api=api)))
    await page.wait_for_selector(scene.shown)
    if scene.keys:
        await page.keyboard.press(scene.keys)
        await page.wait_for_selector("[role=option]")
    await page.screenshot(path=FOLDER / name, animations="disabled")
