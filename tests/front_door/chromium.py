"""A real browser before the front door."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from tests.coordinators.house import until
from tests.faults.serving import DIES_WITH_US
from tests.front_door.house import SECONDS, Person
from tests.web.api.people import PASSWORD

CHROMIUM = Path("/usr/bin/chromium")
OPTIONS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
PATIENCE_MILLISECONDS = 90_000
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


@asynccontextmanager
async def window() -> AsyncIterator[BrowserContext]:
    """Of a new one, with tabs as a person has them: one is seen, all others are hidden. Elsewhere every page is told
    that somebody looks at it."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        told = ("--headless", "--remote-debugging-port=0", f"--user-data-dir={folder}", "--window-size=1400,900")
        process = await asyncio.create_subprocess_exec(
            *(*DIES_WITH_US, str(CHROMIUM), *OPTIONS, *told, "about:blank"),
            env={**os.environ, "TMPDIR": folder},
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with async_playwright() as driver:
                browser = await driver.chromium.connect_over_cdp(await _address(Path(folder)), no_defaults=True)
                context = browser.contexts[0]
                context.set_default_timeout(PATIENCE_MILLISECONDS)
                yield context
                await browser.close()  # only the connection, and what was kept for it
        finally:
            process.terminate()
            await process.wait()


async def _address(folder: Path) -> str:
    """Where a browser with this folder listens, once it does."""
    told = folder / "DevToolsActivePort"

    async def listens() -> str | None:
        lines = told.read_text().split() if told.exists() else []
        return f"ws://127.0.0.1:{lines[0]}{lines[1]}" if len(lines) == 2 else None

    return await until(listens, SECONDS)


async def open_in_background(context: BrowserContext, address: str) -> Page:
    """A tab that nobody looks at, beside the one that is seen."""
    browser = context.browser
    assert browser is not None
    session = await browser.new_browser_cdp_session()
    async with context.expect_page() as opened:
        await session.send("Target.createTarget", {"url": address, "background": True})
    return await opened.value


async def open_workspace(page: Page, person: Person, address: str) -> None:
    """Log in on the way, as somebody does who was given the address."""
    await page.goto(address)
    await page.fill("#login", person.user.login)
    await page.fill("#password", PASSWORD)
    await page.click("button")
