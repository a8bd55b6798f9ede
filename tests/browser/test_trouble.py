"""What somebody sees who is in trouble, and how they get out of it."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, expect

from tests.browser.eyes import Eyes, card
from tests.browser.homes import archived, home_of, lose_home
from tests.front_door.chromium import chromium, needs_chromium
from tests.front_door.house import House, Person
from tests.relay import Relay

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

BROKEN = "UPDATE workspaces SET phase = 'ERROR', error_reason = 'ActionFailed', error_count = 3 WHERE id = $1"


class Line(Relay):
    """Between a browser and codehub."""

    def __init__(self, codehub: House) -> None:
        super().__init__()
        self._address = codehub.address

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_connection(*self._address)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_passed(reader, there_writer))
                group.create_task(_passed(there_reader, writer))
        finally:
            there_writer.close()


async def _passed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while some := await reader.read(65536):
        writer.write(some)
        await writer.drain()
    writer.write_eof()


@pytest.fixture
async def line(codehub: House) -> AsyncIterator[Line]:
    async with Line(codehub) as between:
        yield between


@pytest.fixture
async def browser(line: Line) -> AsyncIterator[Browser]:
    """Whatever it asks of this machine goes over the line."""
    async with chromium(f"--host-resolver-rules=MAP * 127.0.0.1:{line.port}") as opened:
        yield opened


async def test_whoever_is_cut_off_is_told_so_until_all_is_well_again(eyes: Eyes, eve: Person, line: Line) -> None:
    garden = await eve.workspace("garden", running=False)
    page = await eyes.log_in(eve)
    bar = page.get_by_text("The connection is lost.")
    await expect(bar).to_be_hidden()
    await line.close()
    await expect(bar).to_be_visible()
    await eve.call("POST", f"/workspaces/{garden}/start")
    await eve.until_phase(garden, "RUNNING")
    await line.open()
    await expect(bar).to_be_hidden()
    await expect(card(page, "garden").locator(".badge")).to_have_text("Running")


async def test_lost_files_come_back_from_an_archive(eyes: Eyes, eve: Person) -> None:
    garden = await eve.workspace("garden", running=False)
    (await home_of(eyes.codehub, garden)).joinpath("notes.txt").write_text("kept")
    await archived(eve, garden)
    await lose_home(eve, garden)
    page = await eyes.log_in(eve)
    shown = card(page, "garden")
    await expect(shown.get_by_text("its files were there and cannot be found any more")).to_be_visible()
    await shown.locator("summary").click()
    await shown.get_by_role("link", name="Start empty garden").click()
    await expect(page.get_by_role("dialog").get_by_text("This cannot be undone.")).to_be_visible()
    await page.get_by_role("dialog").get_by_text("Cancel").click()
    await shown.get_by_role("link", name="Restore garden").click()
    await page.get_by_role("dialog").get_by_role("button", name="Restore").click()
    await expect(page.get_by_text("The files of garden are being brought back.")).to_be_visible()
    await expect(shown.locator(".badge")).to_have_text("Stopped")
    assert (await home_of(eyes.codehub, garden)).joinpath("notes.txt").read_text() == "kept"


async def test_what_cannot_go_on_is_tried_again(eyes: Eyes, eve: Person) -> None:
    garden = await eve.workspace("garden", running=False)
    await eyes.codehub.fetchval(BROKEN, garden)
    page = await eyes.log_in(eve)
    await card(page, "garden").get_by_role("button", name="Recover garden").click()
    await expect(card(page, "garden").locator(".badge")).to_have_text("Stopped")


async def test_another_is_stopped_where_no_more_may_run(eyes: Eyes, codehub: House) -> None:
    bob = await codehub.person(max_running=1)
    barn = await bob.workspace("barn")
    shed = await bob.workspace("shed", running=False)
    page = await eyes.log_in(bob)
    await page.goto(codehub.browser().origins.address(shed))
    await expect(page.get_by_text("You may have 1 workspace running at a time, and you have.")).to_be_visible()
    await page.get_by_role("link", name="Stop it and open this").click()
    await expect(page.get_by_role("heading", name="Stop barn and open shed?")).to_be_visible()
    await page.get_by_role("button", name="Stop it and open this").click()
    await page.wait_for_selector('text="path":')
    await bob.until_phase(barn, "STANDBY")
