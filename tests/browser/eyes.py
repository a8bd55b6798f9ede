"""What somebody sees of a page, and what they do there."""

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from justhtml import JustHTML, StrictModeError
from playwright.async_api import BrowserContext, ConsoleMessage, Locator, Page, expect

from tests.front_door.house import House, Person
from tests.web.api.people import PASSWORD

MILLISECONDS = 60_000
expect.set_options(timeout=MILLISECONDS)


@cache
def axe() -> str:
    return (Path(__file__).parent / "axe" / "axe.min.js").read_text()


@dataclass
class Eyes:
    codehub: House
    context: BrowserContext
    complaints: list[str] = field(default_factory=list)

    async def page(self) -> Page:
        opened = await self.context.new_page()
        opened.set_default_timeout(MILLISECONDS)
        opened.on("console", self._heard)
        opened.on("pageerror", lambda error: self.complaints.append(str(error)))
        return opened

    def _heard(self, said: ConsoleMessage) -> None:
        if "Content Security Policy" in said.text or "Refused to" in said.text:
            self.complaints.append(said.text)

    async def log_in(self, person: Person) -> Page:
        """On the dashboard, which is live: with its first snapshot it asks for the whole list."""
        page = await self.page()
        async with page.expect_response(lambda answer: "/fragments/list" in answer.url):
            await self.enter(page, person)
        return page

    async def enter(self, page: Page, person: Person) -> None:
        await page.goto(self.codehub.browser().home)
        await page.fill("#login", person.user.login)
        await page.fill("#password", PASSWORD)
        await page.click("[data-submit]")

    async def choose(self, **choices: str) -> None:
        """How pages are shown from now on: the theme, the language."""
        home = self.codehub.browser().home
        await self.context.add_cookies(
            [{"name": f"codehub-{name}", "value": value, "url": home} for name, value in choices.items()]
        )


def card(page: Page, name: str) -> Locator:
    return page.locator(".card", has=page.locator("h2", has_text=name))


async def violations(page: Page) -> list[str]:
    """What axe finds. It runs beside the page's own scripts, whose policy does not hold for it."""
    found = await page.evaluate(f"async () => {{ {axe()}; return (await axe.run()).violations; }}")
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found]


async def faults(page: Page) -> list[str]:
    """Whatever should be on no page."""
    doubled = """() => [...document.querySelectorAll("[id]")].map((each) => each.id)
        .filter((id, at, all) => all.indexOf(id) !== at).map((id) => `two have the id ${id}`)"""
    return [*await violations(page), *await overflows(page), *await page.evaluate(doubled)]


def mistakes(markup: str) -> list[str]:
    """Where it is not HTML as the standard has it, or brings a script or style of its own."""
    inline = re.findall(r"<style|<script(?![^>]* src=)|<[^>]* (?:style|on[a-z]+)=", markup)
    try:
        JustHTML(markup, strict=True)
    except StrictModeError as error:
        return [str(error), *inline]
    return inline


async def overflows(page: Page) -> list[str]:
    """What reaches beyond the edge of the window."""
    return await page.evaluate(  # type: ignore[no-any-return]
        """() => document.documentElement.scrollWidth <= innerWidth ? [] :
             [...document.querySelectorAll("main *, header *")]
               .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
               .map((each) => each.outerHTML.slice(0, 120))"""
    )
