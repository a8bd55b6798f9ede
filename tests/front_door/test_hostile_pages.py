"""A hostile page of a workspace in a real browser, with what outlives it or stands beside it: windows that it opens,
and workers that it leaves behind."""

from uuid import UUID

import pytest
from playwright.async_api import BrowserContext, Page

from tests.front_door.chromium import PATIENCE_MILLISECONDS, chromium, needs_chromium, open_workspace
from tests.front_door.house import House, Person
from tests.front_door.test_in_chromium import IDE

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

OF_WORKER = "text=of a worker"
LOOKS = """
(whom) => {
  const look = (at) => { try { return String(at()); } catch { return "refused"; } };
  const other = window[whom];
  if (!other || other.closed) return "gone";
  return [look(() => other.document.body.innerText), look(() => other.location.href), look(() => other.localStorage)];
}
"""
NOTHING = ["refused", "refused", "refused"]
REGISTER = """
async ([script, scope]) => {
  try {
    await navigator.serviceWorker.register(script, { scope });
  } catch (error) {
    return error.name;
  }
  await navigator.serviceWorker.ready;
  return "registered";
}
"""


async def opened(context: BrowserContext, page: Page, address: str, shown: str = IDE) -> Page:
    """By the page, which keeps it as `popup`, and until it shows this."""
    async with context.expect_page() as new:
        await page.evaluate("(address) => { window.popup = window.open(address); }", address)
    window = await new.value
    await window.wait_for_selector(shown)
    return window


async def test_a_window_that_a_page_opens_shows_it_nothing_and_a_window_that_opened_it_neither(
    codehub: House, ada: Person, garden: UUID, kitchen: UUID
) -> None:
    home = codehub.browser()
    async with chromium() as browser:
        context = await browser.new_context()
        context.set_default_timeout(PATIENCE_MILLISECONDS)
        page = await context.new_page()
        await open_workspace(page, ada, f"{home.origin(garden)}/")
        await page.wait_for_selector(IDE)
        own = await opened(context, page, f"{home.origin(garden)}/own")
        assert '"path": "/own"' in (await page.evaluate(LOOKS, "popup"))[0]
        assert '"path": "/"' in (await own.evaluate(LOOKS, "opener"))[0]
        for seen in ("gone", NOTHING):  # the first time over a page of ours, which cuts the tie
            another = await opened(context, page, f"{home.origin(kitchen)}/")
            assert await page.evaluate(LOOKS, "popup") == seen
            assert await another.evaluate(LOOKS, "opener") == seen
        dashboard = await opened(context, page, f"{home.home}/", "text=garden")
        assert await page.evaluate(LOOKS, "popup") == "gone"
        assert await dashboard.evaluate(LOOKS, "opener") == "gone"


async def test_a_worker_that_a_page_leaves_behind_answers_for_its_own_workspace_alone(
    codehub: House, ada: Person, garden: UUID, kitchen: UUID
) -> None:
    home = codehub.browser()
    async with chromium() as browser:
        page = await browser.new_page()
        page.set_default_timeout(PATIENCE_MILLISECONDS)
        await open_workspace(page, ada, f"{home.origin(kitchen)}/")
        await page.wait_for_selector(IDE)
        await page.goto(f"{home.origin(garden)}/")
        await page.wait_for_selector(IDE)
        for foreign in (home.origin(kitchen), home.home):
            assert await page.evaluate(REGISTER, [f"{foreign}/worker.js", "/"]) == "SecurityError"
            assert await page.evaluate(REGISTER, ["/worker.js", f"{foreign}/"]) == "SecurityError"
        assert await page.evaluate(REGISTER, ["/worker.js", "/"]) == "registered"
        await page.reload()
        await page.wait_for_selector(OF_WORKER)
        await page.goto(f"{home.origin(kitchen)}/")
        await page.wait_for_selector(IDE)
        await page.goto(f"{home.home}/")
        await page.wait_for_selector("text=garden")
