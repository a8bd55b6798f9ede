"""The real VS Code in a real Chromium through the front door: what people do in it works, at either kind of address."""

from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from tests.front_door.chromium import needs_chromium
from tests.front_door.house import Person
from tests.ide.house import Home, IdeHouse, in_campaigns
from tests.ide.vscode import VsCode

pytestmark = [needs_chromium, pytest.mark.timeout(600)]


@pytest.fixture
async def home(house: IdeHouse, ada: Person) -> Home:
    """Of a workspace in which there is something to look at."""
    found = house.home(await ada.workspace())
    await found.run("printf 'const garden = { apples: 1 };\\n' > garden.js; printf '# Garden\\n' > notes.md")
    return found


@pytest.fixture
async def code(house: IdeHouse, ada: Person, home: Home, browser: BrowserContext) -> VsCode:
    opened = VsCode(await browser.new_page())
    await opened.open(ada, house.address(home.workspace_id))
    return opened


async def test_editor_terminal_and_extensions_work_and_are_there_after_a_reload(code: VsCode, home: Home) -> None:
    await code.open_file("garden.js")
    await code.type_at_the_end("// plums and pears\n")
    await code.save()
    await home.until_prints("cat garden.js", "const garden = { apples: 1 };\n// plums and pears")
    await code.page.keyboard.type("garden.", delay=100)
    await code.until_suggested("apples")  # by an extension, which runs in the workspace
    await code.open_terminal()
    await code.in_terminal("export FRUIT=plums; echo $FRUIT > plums.txt")
    await home.until_prints("cat plums.txt", "plums")
    await code.reload()
    await expect(code.page.locator(".tab", has_text="garden.js")).to_be_visible()
    await code.show_terminal()
    await code.in_terminal("echo $FRUIT again > again.txt")
    await home.until_prints("cat again.txt", "plums again")
    assert code.refused == []


@in_campaigns
async def test_files_come_and_go(code: VsCode, home: Home, tmp_path: Path) -> None:
    sent = tmp_path / "basket.bin"
    sent.write_bytes(bytes(range(256)) * 20_000)
    async with code.page.expect_file_chooser() as chosen:
        await code.choose_for_the_folder("Upload...")
    await (await chosen.value).set_files(sent)
    await home.until_prints("stat -c %s basket.bin", str(sent.stat().st_size))
    async with code.page.expect_download() as downloaded:
        await code.choose_for("basket.bin", "Download...")
    received = tmp_path / "received.bin"
    await (await downloaded.value).save_as(received)
    assert received.read_bytes() == sent.read_bytes()
    assert code.refused == []


@in_campaigns
async def test_a_page_within_the_page_is_shown(code: VsCode) -> None:
    await code.open_file("notes.md")
    await code.command("Markdown: Open Preview to the Side")
    shown = code.page.frame_locator("iframe.webview").frame_locator("iframe").locator("h1", has_text="Garden")
    await expect(shown).to_be_visible()
    assert code.refused == []
