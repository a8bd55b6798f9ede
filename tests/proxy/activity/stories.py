"""What somebody does in a real IDE while it is recorded, and when: each step is marked with what it is."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from playwright.async_api import BrowserContext, Page

SETTLED_SECONDS = 25
"""After that long a tab that was just opened has done what it does by itself."""


class Session:
    """A browser before a recorded IDE, and the times of what was done in it."""

    def __init__(self, context: BrowserContext, address: str, cut: Callable[[], Awaitable[None]]) -> None:
        self.context, self.address = context, address
        self.cut = cut
        """Ends all tunnels, as a restart of the front door does."""
        self.marks: list[tuple[float, str]] = []

    def mark(self, doing: str) -> None:
        self.marks.append((time.monotonic(), doing))
        print(f"{time.strftime('%H:%M:%S')} {doing}", flush=True)  # noqa: T201 - a command

    async def tab(self, ready: str) -> Page:
        page = await self.context.new_page()
        await page.goto(self.address)
        await page.wait_for_selector(ready, timeout=60_000)
        return page


Story = Callable[[Session, int], Awaitable[None]]


async def vscode_idle(session: Session, seconds: int) -> None:
    """Windows on one folder, after another that was closed again; then nobody touches anything."""
    session.mark("idle")
    first = await session.tab(".explorer-viewlet")
    await asyncio.sleep(SETTLED_SECONDS)
    await first.close()
    await session.tab(".explorer-viewlet")
    await session.tab(".explorer-viewlet")
    await asyncio.sleep(seconds)


async def vscode_work(session: Session, seconds: int) -> None:
    session.mark("idle")
    page = await session.tab(".explorer-viewlet")
    await asyncio.sleep(SETTLED_SECONDS)
    await _edit(session, page, seconds)
    await _use_a_terminal(session, page, seconds)
    await _run_things(session, page)
    session.mark("idle at the end")
    await asyncio.sleep(seconds)
    session.mark("idle after a reconnect")
    await session.cut()
    await asyncio.sleep(seconds)
    await _print_after_a_reconnect(session, page)


async def _edit(session: Session, page: Page, seconds: int) -> None:
    session.mark("open a file")
    await page.get_by_role("treeitem", name="garden.js").dblclick()
    await page.wait_for_selector(".view-line")
    await asyncio.sleep(10)
    session.mark("idle in a file")
    await asyncio.sleep(seconds)
    session.mark("click")
    await page.locator(".view-line").first.click()
    await asyncio.sleep(2)
    session.mark("hover")
    await page.locator(".view-line span", has_text="garden").last.hover()
    await asyncio.sleep(3)
    session.mark("type")
    await page.keyboard.press("Control+End")
    await page.keyboard.type("// plums and pears\n", delay=120)
    await asyncio.sleep(4)
    session.mark("complete")
    await page.keyboard.type("garden.", delay=120)
    await page.keyboard.press("Control+Space")
    await asyncio.sleep(4)
    await page.keyboard.press("Escape")
    session.mark("save")
    await page.keyboard.press("Control+S")
    await asyncio.sleep(4)


async def _use_a_terminal(session: Session, page: Page, seconds: int) -> None:
    session.mark("open a terminal")
    await page.keyboard.press("Control+Backquote")
    await page.wait_for_selector(".xterm-screen")
    await asyncio.sleep(6)
    session.mark("idle with a terminal")
    await asyncio.sleep(seconds)
    session.mark("type in the terminal")
    await page.keyboard.type("for i in 1 2 3 4 5 6; do sleep 2; echo apple $i; done", delay=60)
    await page.keyboard.press("Enter")
    session.mark("terminal prints")
    await asyncio.sleep(15)


async def _run_things(session: Session, page: Page) -> None:
    session.mark("command")
    await page.keyboard.press("F1")
    await page.keyboard.type("Git: Refresh", delay=60)
    await asyncio.sleep(1)
    await page.keyboard.press("Enter")
    await asyncio.sleep(4)
    session.mark("task")
    await page.keyboard.press("Control+Shift+B")
    await asyncio.sleep(8)
    session.mark("debugging")
    await page.keyboard.press("F5")
    await asyncio.sleep(10)
    await page.keyboard.press("Shift+F5")
    await asyncio.sleep(4)


async def _print_after_a_reconnect(session: Session, page: Page) -> None:
    session.mark("type after a reconnect")
    await page.keyboard.press("Control+Shift+Backquote")  # another terminal
    await asyncio.sleep(4)
    await page.keyboard.type("for i in 1 2 3; do sleep 4; echo pear $i; done", delay=60)
    await page.keyboard.press("Enter")
    session.mark("terminal prints after a reconnect")
    await asyncio.sleep(15)


async def jupyter_idle(session: Session, seconds: int) -> None:
    session.mark("idle")
    page = await session.tab(".jp-Launcher")
    session.mark("open a notebook")
    await page.locator(".jp-LauncherCard[data-category=Notebook]").first.click()
    await page.wait_for_selector(".jp-Notebook")
    await asyncio.sleep(10)
    session.mark("idle in a notebook")
    await asyncio.sleep(seconds)


async def jupyter_work(session: Session, seconds: int) -> None:
    await jupyter_idle(session, seconds)
    page = session.context.pages[0]
    session.mark("run a cell")
    await page.locator(".jp-Notebook .cm-content").first.click()
    await page.keyboard.type("import time\nfor i in range(6): print(i); time.sleep(2)", delay=30)
    await page.keyboard.press("Shift+Enter")
    session.mark("kernel prints")
    await asyncio.sleep(16)
    session.mark("complete")
    await page.keyboard.type("time.sl", delay=60)
    await page.keyboard.press("Tab")
    await asyncio.sleep(3)
    session.mark("save")
    await page.keyboard.press("Control+S")
    await page.locator(".jp-Dialog .jp-mod-accept").click()  # it asks for a name the first time
    await asyncio.sleep(4)
    session.mark("open a terminal")
    await page.locator(".jp-FileBrowser [data-command='launcher:create']").first.click()
    await page.locator(".jp-LauncherCard[data-category=Other]", has_text="Terminal").first.click()
    await page.wait_for_selector(".xterm-screen")
    await asyncio.sleep(6)
    session.mark("idle with a terminal")
    await asyncio.sleep(seconds)
    session.mark("type in the terminal")
    await page.locator(".xterm-screen").click()
    await page.keyboard.type("for i in 1 2 3 4 5; do sleep 2; echo apple $i; done", delay=60)
    await page.keyboard.press("Enter")
    session.mark("terminal prints")
    await asyncio.sleep(14)
    session.mark("idle after a reconnect")
    await session.cut()
    await asyncio.sleep(seconds)


STORIES: dict[tuple[str, str], Story] = {
    ("code-server", "idle"): vscode_idle,
    ("code-server", "work"): vscode_work,
    ("jupyterlab", "idle"): jupyter_idle,
    ("jupyterlab", "work"): jupyter_work,
}
