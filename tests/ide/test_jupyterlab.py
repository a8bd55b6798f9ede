"""The real JupyterLab in a real Chromium through the front door, at either kind of address."""

import asyncio

import pytest
from playwright.async_api import BrowserContext, Page, expect

from codehub.images.tools import JUPYTERLAB
from tests.front_door.chromium import needs_chromium, open_workspace
from tests.front_door.house import Person
from tests.ide.house import IdeHouse, in_campaigns, require_image

pytestmark = [needs_chromium, in_campaigns, pytest.mark.timeout(600)]


@pytest.fixture(scope="module", autouse=True)
def image() -> None:
    asyncio.run(require_image(JUPYTERLAB))


async def run_a_cell(page: Page) -> None:
    await page.locator(".jp-LauncherCard[data-category=Notebook]").first.click()
    await expect(page.locator("#jp-main-statusbar")).to_contain_text("| Idle")  # a cell that is run earlier never runs
    await page.locator(".jp-Notebook .cm-content").first.click()
    await page.keyboard.type("print('plums ' * 2 + str(6 * 7))")
    await page.keyboard.press("Shift+Enter")
    await expect(page.locator(".jp-OutputArea-output", has_text="plums plums 42")).to_be_visible()


async def use_a_terminal(page: Page, line: str) -> None:
    await page.locator(".jp-FileBrowser [data-command='launcher:create']").first.click()
    await page.locator(".jp-LauncherCard[data-category=Other]", has_text="Terminal").first.click()
    await page.locator(".xterm-screen").click()
    await page.keyboard.type(line)
    await page.keyboard.press("Enter")


async def test_a_cell_is_run_and_a_terminal_writes_a_file(
    house: IdeHouse, ada: Person, browser: BrowserContext
) -> None:
    attic = await ada.workspace("attic", template="jupyterlab")
    page = await browser.new_page()
    refused: list[str] = []
    page.on("response", lambda answer: refused.append(answer.url) if answer.status >= 400 else None)
    await open_workspace(page, ada, house.address(attic))
    await run_a_cell(page)
    await use_a_terminal(page, "echo plums > plums.txt")
    await house.home(attic).until_prints("cat plums.txt", "plums")
    assert refused == []
