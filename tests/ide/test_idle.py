"""Two minutes of idle time and real tabs: whoever is at work stays awake, an idle tab does not keep anything awake.

Minutes long, so it takes part in campaigns only; `-s` shows when each workspace went to sleep:

    CODEHUB_TEST_CAMPAIGN=1 pytest -s tests/ide/test_idle.py
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

import pytest
from playwright.async_api import BrowserContext, expect

from codehub.images.tools import CODE_SERVER
from tests.front_door.chromium import needs_chromium, open_in_background, window
from tests.front_door.house import Person
from tests.ide.browser import PATIENCE_SECONDS
from tests.ide.house import IdeHouse, ide_house, in_campaigns, require_image
from tests.ide.vscode import VsCode

pytestmark = [needs_chromium, in_campaigns, pytest.mark.timeout(2400)]
IDLE_SECONDS = 120
LEFT_ALONE_SECONDS = 360
WATCHED_SECONDS = 45
"""How long is looked whether something wakes that should not."""
SIDE_BY_SIDE = 5
WISHED = "SELECT desired_state || ' ' || desired_reason FROM workspaces WHERE id = $1"
LAST_SEEN = """
    SELECT coalesce(last_activity, 'nothing') || ' ' || to_char(last_access_at, 'HH24:MI:SS')
    FROM workspaces WHERE id = $1
"""


@pytest.fixture(scope="module")
def drowsy(postgres_url: str, migrated_template: str, redis_url: str) -> Iterator[IdeHouse]:
    """Everything as it is by default, but for the idle time."""
    asyncio.run(require_image(CODE_SERVER))
    idle_time = str(IDLE_SECONDS)
    with ide_house(postgres_url, migrated_template, redis_url, TTL_STANDBY_SECONDS=idle_time) as running:
        yield running


@dataclass
class Desk:
    """A workspace and a browser window of its own, in which one tab is seen and all others are hidden."""

    house: IdeHouse
    person: Person
    workspace_id: UUID
    tabs: BrowserContext
    name: str
    began: float = 0
    """When something was left alone."""

    async def window(self) -> VsCode:
        code = VsCode(await self.tabs.new_page())
        await code.open(self.person, self.house.address(self.workspace_id))
        return code

    def say(self, what: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {self.name}: {what}", flush=True)  # noqa: T201 (figures of a campaign)

    def since(self) -> float:
        return time.monotonic() - self.began

    async def wished(self) -> str:
        """What it shall be, and why. Not its phase: an IDE that does not answer for a while is not RUNNING, though
        nobody has put it to sleep."""
        found: str = await self.house.codehub.fetchval(WISHED, self.workspace_id)
        return found

    async def last_seen(self) -> str:
        found: str = await self.house.codehub.fetchval(LAST_SEEN, self.workspace_id)
        return found

    async def until_asleep(self) -> None:
        seen = ""
        while await self.wished() != "STANDBY idle":
            if seen != (seen := await self.last_seen()):
                self.say(f"{self.since():.0f} s: {seen}")
            assert self.since() < LEFT_ALONE_SECONDS, f"{self.name} is awake: {seen}"
            await asyncio.sleep(1)
        await self.person.until_phase(self.workspace_id, "STANDBY", PATIENCE_SECONDS)
        self.say(f"asleep after {self.since():.0f} s")

    async def stays(self, wished: str, seconds: float) -> None:
        began = time.monotonic()
        while (since := time.monotonic() - began) < seconds:
            found = await self.wished()
            assert found == wished, f"{self.name} is {found} after {since:.0f} s: {await self.last_seen()}"
            await asyncio.sleep(1)


@asynccontextmanager
async def sit_down(house: IdeHouse, person: Person, name: str) -> AsyncIterator[Desk]:
    workspace_id = await person.workspace(name)
    home = house.home(workspace_id)
    await home.run("printf 'const garden = { apples: 1 };\\n' > garden.js; printf '# Garden\\n' > notes.md")
    async with window() as tabs:
        tabs.set_default_timeout(PATIENCE_SECONDS * 1000)
        yield Desk(house, person, workspace_id, tabs, name)


async def work_and_leave(desk: Desk) -> None:
    """Two windows have used the folder; in the one that is left, a file was saved and another one was not."""
    for earlier in [await desk.window(), await desk.window()]:
        await earlier.page.close()
    code = await desk.window()
    await code.open_file("garden.js")
    await code.type_at_the_end("// plums")
    await code.save()
    await code.open_file("notes.md")
    await code.type_at_the_end("pears")
    await desk.house.home(desk.workspace_id).until_prints("tail -1 garden.js", "// plums")
    await expect(code.page.locator(".part.auxiliarybar")).to_be_visible()  # where the chat is
    desk.began = time.monotonic()
    desk.say("left alone")


async def sleep_and_wake(desk: Desk) -> None:
    await desk.until_asleep()
    await desk.stays("STANDBY idle", WATCHED_SECONDS)
    desk.say("its tab has not woken it")
    seen = await desk.tabs.new_page()
    for page in desk.tabs.pages:
        if page is not seen:
            await page.close()
    page = await open_in_background(desk.tabs, desk.house.address(desk.workspace_id))
    await page.wait_for_selector("#waking")
    await desk.stays("STANDBY idle", WATCHED_SECONDS)
    desk.say("a tab in the background has not woken it")
    began = time.monotonic()
    await page.bring_to_front()
    await page.wait_for_selector(".explorer-viewlet")
    for name in ("garden.js", "notes.md"):
        await expect(page.locator(".tab", has_text=name)).to_be_visible()
    await expect(page.locator(".view-lines", has_text="pears")).to_be_visible()
    assert await desk.house.home(desk.workspace_id).run("tail -1 garden.js") == "// plums"
    desk.say(f"woken by looking at it, all as it was, after {time.monotonic() - began:.0f} s")


@pytest.mark.parametrize("turn", [1, 2])
async def test_an_idle_tab_lets_its_workspace_sleep_and_wakes_it_when_it_is_looked_at(
    drowsy: IdeHouse, turn: int
) -> None:
    person = await drowsy.person()
    async with AsyncExitStack() as desks, asyncio.TaskGroup() as group:
        for number in range(SIDE_BY_SIDE):
            desk = await desks.enter_async_context(sit_down(drowsy, person, f"idle-{turn}-{number}"))
            await work_and_leave(desk)
            group.create_task(sleep_and_wake(desk))


async def type_now_and_then(desk: Desk, code: VsCode) -> None:
    await code.open_file("notes.md")
    async with asyncio.timeout(2 * LEFT_ALONE_SECONDS):
        began = time.monotonic()
        while time.monotonic() - began < LEFT_ALONE_SECONDS:
            await code.type_at_the_end("plum ")
            await desk.stays("RUNNING owner", 25)
    desk.say(f"awake after {LEFT_ALONE_SECONDS} s of typing every 25 s; last {await desk.last_seen()}")


async def wait_with_a_hold(desk: Desk, code: VsCode) -> None:
    await code.open_terminal()
    held = await desk.person.call(
        "POST", f"/workspaces/{desk.workspace_id}/holds", {"reason": "a silent build", "seconds": 330}
    )
    assert held.status_code == 201, held.text
    await code.in_terminal("sleep 300; echo ready > ready")
    await desk.stays("RUNNING owner", 315)
    await desk.house.home(desk.workspace_id).until_prints("cat ready", "ready")
    desk.say(f"awake after sleep 300 with a hold; last {await desk.last_seen()}")


async def print_now_and_then(desk: Desk, code: VsCode) -> None:
    await code.open_terminal()
    await code.in_terminal("for i in $(seq 60); do sleep $((RANDOM % 20 + 10)); echo apple $i; done")
    await desk.stays("RUNNING owner", LEFT_ALONE_SECONDS)
    desk.say(f"awake after {LEFT_ALONE_SECONDS} s of a terminal that prints; last {await desk.last_seen()}")


async def print_like_a_clock(desk: Desk, code: VsCode) -> None:
    await code.open_terminal()
    await code.in_terminal("while sleep 10; do echo plum; done")
    await desk.stays("RUNNING owner", LEFT_ALONE_SECONDS)
    desk.say(f"awake after {LEFT_ALONE_SECONDS} s of a terminal that prints each 10 s; last {await desk.last_seen()}")


WORK = {
    "types": type_now_and_then,
    "holds": wait_with_a_hold,
    "prints": print_now_and_then,
    "prints-regularly": print_like_a_clock,
}


async def test_whoever_works_stays_awake(drowsy: IdeHouse) -> None:
    person = await drowsy.person()
    async with AsyncExitStack() as desks, asyncio.TaskGroup() as group:
        for name, work in WORK.items():
            desk = await desks.enter_async_context(sit_down(drowsy, person, name))
            group.create_task(work(desk, await desk.window()))
