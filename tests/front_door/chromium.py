"""A real browser before the front door."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, async_playwright

from tests.front_door.house import Person
from tests.web.api.people import PASSWORD

CHROMIUM = Path("/usr/bin/chromium")
OPTIONS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
needs_chromium = pytest.mark.skipif(not CHROMIUM.exists(), reason="needs the Debian package chromium")


@asynccontextmanager
async def chromium(*options: str) -> AsyncIterator[Browser]:
    """A new one, in which nobody has been anywhere."""
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=str(CHROMIUM), args=[*OPTIONS, *options])
        try:
            yield browser
        finally:
            await browser.close()


async def open_workspace(page: Page, person: Person, address: str) -> None:
    """Log in on the way, as somebody does who was given the address."""
    await page.goto(address)
    await page.fill("#login", person.user.login)
    await page.fill("#password", PASSWORD)
    await page.click("button")
