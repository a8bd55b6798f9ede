"""A browser that waits for an IDE as long as one takes."""

from playwright.async_api import Browser, BrowserContext, expect

PATIENCE_SECONDS = 240
"""For a page of many megabytes on a machine that does much else."""

expect.set_options(timeout=PATIENCE_SECONDS * 1000)


async def new_visitor(browser: Browser) -> BrowserContext:
    """Who is not logged in, and sees as much of an IDE as on a small screen."""
    context = await browser.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(PATIENCE_SECONDS * 1000)
    return context
