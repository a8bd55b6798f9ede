"""The front door is replaced while somebody types: nothing of what they type is lost, and no request fails."""

import asyncio
from uuid import UUID

import pytest
from playwright.async_api import BrowserContext, WebSocket, expect

from tests.front_door.chromium import needs_chromium
from tests.front_door.house import House, Person
from tests.ide.house import IdeHouse, in_campaigns
from tests.ide.vscode import VsCode
from tests.stack.installation import COMMAND

pytestmark = [needs_chromium, in_campaigns, pytest.mark.timeout(600)]
RESTART_SECONDS = 180


async def restart(codehub: House) -> None:
    process = await asyncio.create_subprocess_exec(COMMAND, "restart", env=codehub.environment)
    try:
        assert await asyncio.wait_for(process.wait(), RESTART_SECONDS) == 0
    finally:
        if process.returncode is None:
            process.kill()


class Tunnels:
    """Those of a page: which it has opened, and which have ended."""

    def __init__(self, code: VsCode) -> None:
        self.opened = 0
        self.ended = 0
        code.page.on("websocket", self._note)

    def _note(self, tunnel: WebSocket) -> None:
        self.opened += 1
        tunnel.on("close", lambda _: self._end())

    def _end(self) -> None:
        self.ended += 1

    @property
    def are_replaced(self) -> bool:
        """VS Code has two."""
        return self.ended >= 2 and self.opened - self.ended >= 2


async def type_until_replaced(code: VsCode, tunnels: Tunnels, restarting: "asyncio.Task[None]") -> str:
    """Lines, until new tunnels have carried some of them. What was typed."""
    typed = ""
    after = 0
    async with asyncio.timeout(2 * RESTART_SECONDS):
        while after < 3:
            line = f"{len(typed):05} the plums and pears of the garden\n"
            await code.page.keyboard.type(line, delay=10)
            typed += line
            after += restarting.done() and tunnels.are_replaced
    return typed


@pytest.fixture
async def garden(ada: Person) -> UUID:
    return await ada.workspace()


async def restart_while_typing(house: IdeHouse, code: VsCode, tunnels: Tunnels) -> str:
    """What was typed meanwhile."""
    async with asyncio.TaskGroup() as group:
        restarting = group.create_task(restart(house.codehub))
        return await type_until_replaced(code, tunnels, restarting)


async def test_no_keystroke_is_lost(house: IdeHouse, ada: Person, garden: UUID, browser: BrowserContext) -> None:
    code = VsCode(await browser.new_page())
    tunnels = Tunnels(code)
    await code.open(ada, house.address(garden))
    await code.open_terminal()
    await code.in_terminal("stty -echo; cat > typed.txt")
    typed = await restart_while_typing(house, code, tunnels)
    await code.page.keyboard.press("Control+D")
    await house.home(garden).until_prints("cat typed.txt", typed.strip())
    await expect(code.page.locator(".monaco-dialog-box")).to_have_count(0)
    assert code.refused == []


async def test_nothing_typed_into_a_file_is_lost(
    house: IdeHouse, ada: Person, garden: UUID, browser: BrowserContext
) -> None:
    home = house.home(garden)
    await home.run("printf '# Garden\\n' > notes.md")
    code = VsCode(await browser.new_page())
    tunnels = Tunnels(code)
    await code.open(ada, house.address(garden))
    await code.open_file("notes.md")
    await code.type_at_the_end("")
    typed = await restart_while_typing(house, code, tunnels)
    await code.save()
    await home.until_prints("cat notes.md", f"# Garden\n{typed.strip()}")
    await expect(code.page.locator(".monaco-dialog-box")).to_have_count(0)
    assert code.refused == []
