"""From the front door to sleep with idle times of seconds: what keeps a workspace awake, for as long as it does."""

from uuid import UUID

import pytest

from tests.coordinators.house import until
from tests.front_door.browser import Browser
from tests.front_door.house import SECONDS, House
from tests.front_door.test_waking import desired

pytestmark = pytest.mark.timeout(300)
HOLD = "nohup codehub hold --reason 'a silent build' -- sh -c 'until [ -e built ]; do sleep 1; done' >/dev/null 2>&1 &"
HELD = "SELECT hold_reason FROM workspaces WHERE id = $1 AND held_until > now()"


async def in_terminal(browser: Browser, workspace_id: UUID, line: str) -> None:
    there = f"{browser.origin(workspace_id)}/terminal"
    answer = await browser.send("POST", there, {"Origin": browser.origin(workspace_id)}, content=line)
    assert answer.status_code == 200, answer.text


async def test_a_hold_from_inside_outlasts_the_idle_time(codehub: House) -> None:
    ada = await codehub.person()
    garden = await ada.workspace("garden")
    browser = await ada.at(garden)
    await in_terminal(browser, garden, HOLD)

    async def is_held() -> bool | None:
        return await codehub.fetchval(HELD, garden) == "a silent build" or None

    await until(is_held, SECONDS)
    shed = await ada.workspace("shed")  # which nobody uses either, and for less time
    for each in (garden, shed):
        await ada.make_drowsy(each, 2)
    await ada.until_idle(shed)
    assert await desired(codehub, garden) == ("RUNNING", "owner")
    await in_terminal(browser, garden, "touch built")
    await ada.until_idle(garden)
