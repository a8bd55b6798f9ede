"""The front door in a real browser: its rules about origins, cookies and policies are the browser's, not ours."""

from collections import Counter
from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest
from playwright.async_api import Page, Route

from tests.front_door.chromium import chromium, needs_chromium, open_in_background, open_workspace, window
from tests.front_door.house import House, Person
from tests.front_door.test_waking import desired

pytestmark = [needs_chromium, pytest.mark.timeout(300)]
IDE = 'text="path":'


async def test_a_sleeping_workspace_turns_from_a_login_into_itself(codehub: House, eve: Person) -> None:
    shed = await eve.workspace("shed", running=False)
    origin = codehub.browser().origin(shed)
    async with chromium() as browser:
        page = await browser.new_page()
        complaints: list[str] = []
        page.on("console", lambda said: complaints.append(said.text) if "Content Security" in said.text else None)
        await open_workspace(page, eve, f"{origin}/folder?x=1")
        await page.wait_for_selector(IDE, timeout=90_000)
        assert page.url == f"{origin}/folder?x=1"
        assert '"path": "/folder?x=1"' in await page.inner_text("body")
        assert complaints == []
        assert await page.evaluate("document.cookie") == ""
    assert await desired(codehub, shed) == ("RUNNING", "wake")


async def test_a_tab_in_the_background_wakes_nothing_until_somebody_looks(codehub: House, eve: Person) -> None:
    shed = await eve.workspace("shed", running=False)
    here = codehub.browser()
    async with window() as tabs:
        await open_workspace(tabs.pages[0], eve, f"{here.home}/")
        await tabs.pages[0].wait_for_url(f"{here.home}/")
        page = await open_in_background(tabs, f"{here.origin(shed)}/")
        await page.wait_for_selector("#waking")
        async with page.expect_response(lambda answer: answer.url.endswith("/events")):
            await page.reload()
        assert await desired(codehub, shed) == ("STANDBY", "owner")
        await page.bring_to_front()
        await page.wait_for_selector(IDE, timeout=90_000)
    assert await desired(codehub, shed) == ("RUNNING", "wake")


async def test_a_waking_page_outlasts_a_proxy_before_codehub_that_cannot_reach_it(codehub: House, eve: Person) -> None:
    shed = await eve.workspace("shed", running=False)
    refused: Counter[str] = Counter()

    async def refuse_for_a_while(route: Route) -> None:
        if refused["wake"] >= 2 and refused["events"] >= 2:
            await route.continue_()
        else:
            refused[route.request.url.rpartition("/")[2]] += 1
            await route.fulfill(status=502, body="Bad Gateway")

    async with chromium() as browser:
        page = await browser.new_page()
        await page.route("**/.codehub/static/waking.js", lambda route: cut_off(page, route, refuse_for_a_while))
        await open_workspace(page, eve, f"{codehub.browser().origin(shed)}/")
        await page.wait_for_selector(IDE, timeout=90_000)
    assert refused["wake"] == 2


async def cut_off(page: Page, route: Route, refuse: Callable[[Route], Awaitable[None]]) -> None:
    """The last that comes through; from then on it is decided what does."""
    await page.route("**/*", refuse)
    await route.continue_()


ASKS = """
async ([api, other]) => {
  const tried = {};
  const ask = async (name, url, options) => {
    try {
      tried[name] = (await fetch(url, { credentials: "include", ...options })).type;
    } catch {
      tried[name] = "refused";
    }
  };
  await ask("read the API", `${api}/api/v1/me`, {});
  await ask("read another", `${other}/x`, {});
  await ask("write the API", `${api}/api/v1/workspaces`, { method: "POST", mode: "no-cors", body: "{}" });
  await ask("wake another", `${other}/.codehub/wake`, { method: "POST", mode: "no-cors" });
  tried.websocket = await new Promise((told) => {
    const socket = new WebSocket(other.replace("http", "ws"));
    socket.onopen = () => told("open");
    socket.onerror = () => told("refused");
  });
  tried.frame = await new Promise((told) => {
    const frame = document.createElement("iframe");
    frame.onload = () => { try { told(frame.contentDocument ? "read" : "refused"); } catch { told("refused"); } };
    frame.src = `${other}/.codehub/events`;
    document.body.append(frame);
  });
  return tried;
}
"""


async def test_a_page_of_a_workspace_gets_nowhere_with_its_visitors_rights(
    codehub: House, ada: Person, garden: UUID, kitchen: UUID
) -> None:
    home = codehub.browser()
    refused: list[tuple[str, int]] = []
    async with chromium() as browser:
        page = await browser.new_page()
        await open_workspace(page, ada, f"{home.origin(kitchen)}/")
        await page.wait_for_selector(IDE)
        await page.goto(f"{home.origin(garden)}/")
        await page.wait_for_selector(IDE)
        page.on("response", lambda answer: refused.append((answer.url, answer.status)))
        tried = await page.evaluate(ASKS, [home.home, home.origin(kitchen)])
    assert tried["read the API"] == "refused"
    assert tried["read another"] == "refused"
    assert tried["websocket"] == "refused"
    assert tried["frame"] == "refused"
    statuses = {url.removeprefix(home.origin(kitchen)): status for url, status in refused if "localhost" in url}
    assert {statuses["/.codehub/wake"], statuses.get("/x", 401)} <= {401, 403}
