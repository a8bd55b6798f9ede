"""VS Code in a real browser, used as a person does: by keyboard and mouse."""

import asyncio
import contextlib
import re

from playwright.async_api import Locator, Page, Position, Response, expect
from playwright.async_api import TimeoutError as TooSlow

from tests.front_door.house import Person
from tests.ide.browser import PATIENCE_SECONDS
from tests.web.api.people import PASSWORD

ASKED_AGAIN_MILLISECONDS = 10_000
TYPING_MILLISECONDS = 20
PROBES = ("/vsda.js", "/vsda_bg.wasm")
"""Parts that only Microsoft's own build has; every other asks for them and does without."""


class VsCode:
    def __init__(self, page: Page) -> None:
        self.page = page
        self.refused: list[str] = []
        """What was answered with an error, but for what this build asks for in vain."""
        page.on("response", self._note)

    def _note(self, answer: Response) -> None:
        if answer.status >= 400 and not answer.url.endswith(PROBES):
            self.refused.append(f"{answer.status} {answer.request.method} {answer.url}")

    async def open(self, person: Person, address: str) -> None:
        """Log in on the way, if this browser has not yet."""
        await self.page.goto(address, wait_until="domcontentloaded")
        await self.page.wait_for_selector("#login, .monaco-workbench")
        if await self.page.locator("#login").count():
            await self.page.fill("#login", person.user.login)
            await self.page.fill("#password", PASSWORD)
            await self.page.click("button")
        await self.until_ready()

    async def until_ready(self) -> None:
        await self.page.wait_for_selector(".explorer-viewlet")

    async def reload(self) -> None:
        await self.page.reload(wait_until="domcontentloaded")
        await self.until_ready()

    async def command(self, name: str) -> None:
        """From the palette, asked again where the page was too busy with its start to take it."""
        found = self.page.get_by_role("option", name=re.compile(rf"{re.escape(name)}(,|$)"))  # its keys may follow
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                await self.page.keyboard.press("Escape")
                await self.page.keyboard.press("F1")
                await self.page.locator(".quick-input-widget input").first.fill(f">{name}")
                with contextlib.suppress(TooSlow):
                    return await found.click(timeout=ASKED_AGAIN_MILLISECONDS)

    async def open_file(self, name: str) -> None:
        await self.page.get_by_role("treeitem", name=name).dblclick()
        await expect(self.page.locator(".tab.active", has_text=name)).to_be_visible()
        await self.page.locator(".editor-instance .view-line").first.wait_for()

    async def type_at_the_end(self, text: str) -> None:
        await self.page.locator(".editor-instance .view-line").first.click()
        await self.page.keyboard.press("Control+End")
        await self.page.keyboard.type(text, delay=TYPING_MILLISECONDS)

    async def until_suggested(self, word: str) -> None:
        """Asked for again until the language's extension has started."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            found = self.page.locator(".suggest-widget .monaco-list-row", has_text=word).first
            while not await found.is_visible():
                await self.page.keyboard.press("Control+Space")
                with contextlib.suppress(TooSlow):
                    await found.wait_for(timeout=ASKED_AGAIN_MILLISECONDS)
        await self.page.keyboard.press("Escape")

    async def save(self) -> None:
        await self.page.keyboard.press("Control+S")

    async def open_terminal(self) -> None:
        await self.command("Terminal: Create New Terminal")
        await self.page.wait_for_selector(".terminal-wrapper.active .xterm-screen")

    async def show_terminal(self) -> None:
        """The one that is there. After a reload VS Code may have hidden it: what is shown is kept only now and then.
        Not by "Focus Terminal", which makes another one where the first has not been found again yet."""
        await self.command("Terminal: Focus on Terminal View")
        await self.page.wait_for_selector(".terminal-wrapper.active .xterm-screen")

    async def in_terminal(self, line: str) -> None:
        await self.page.locator(".terminal-wrapper.active .xterm-screen").click()
        await self.page.keyboard.type(line, delay=TYPING_MILLISECONDS)
        await self.page.keyboard.press("Enter")

    async def choose_for(self, name: str, entry: str) -> None:
        """From the menu of a file."""
        await self._choose(self.page.get_by_role("treeitem", name=name), None, entry)

    async def choose_for_the_folder(self, entry: str) -> None:
        """From the menu of where no file is."""
        await self._choose(self.page.locator(".explorer-folders-view"), {"x": 60, "y": 500}, entry)

    async def _choose(self, place: Locator, position: Position | None, entry: str) -> None:
        """Once more where the menu was gone before it could be clicked: it goes when something else takes the focus."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                await place.click(button="right", position=position)
                with contextlib.suppress(TooSlow):
                    return await self.page.get_by_role("menuitem", name=entry).click(timeout=ASKED_AGAIN_MILLISECONDS)
