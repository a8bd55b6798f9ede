"""Makes the recorded streams anew: a real IDE in a container, a real Chromium before it, a recording relay between.

    python -m tests.proxy.activity.record code-server work FOLDER
    python -m tests.proxy.activity.record code-server idle FOLDER --seconds 240
    python -m tests.proxy.activity.record jupyterlab work FOLDER

It needs the Debian package `chromium`, and an engine with the IDE's image (`codehub image build`). What is written to
FOLDER is raw; `python -m tests.proxy.activity.trim` makes the small files of `streams/` of it.
"""

import argparse
import asyncio
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.request import urlopen
from uuid import uuid4

from playwright.async_api import async_playwright

from codehub.images.dockerfile import Recipe
from codehub.images.tools import TOOLS, Tool
from tests.proxy.activity.recording_relay import RecordingRelay
from tests.proxy.activity.stories import STORIES, Session

CHROMIUM = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")

PREPARE = {
    "code-server": """
        cd && git init -q . && mkdir .vscode && printf '# Garden\n' > notes.md
        printf 'const garden = { apples: 1 };\n' > garden.js
        echo '{"version": "2.0.0", "tasks": [{"label": "plums", "type": "shell", "command": "sleep 2; echo plum",
            "group": {"kind": "build", "isDefault": true}, "problemMatcher": []}]}' > .vscode/tasks.json
        echo '{"version": "0.2.0", "configurations": [{"type": "node", "request": "launch", "name": "garden",
            "runtimeExecutable": "/opt/code-server/bin/node", "program": "${workspaceFolder}/pears.js",
            "stopOnEntry": true}]}' > .vscode/launch.json
        printf 'console.log("pear");\\n' > pears.js
    """,
    "jupyterlab": "cd && printf 'apples = 1\n' > garden.py",
}


@asynccontextmanager
async def ide(tool: Tool) -> AsyncIterator[str]:
    """Its address. The container is gone afterwards."""
    name = f"codehub-record-{uuid4().hex[:8]}"
    image = Recipe(tool).tag
    await _docker("run", "--detach", "--rm", "--name", name, "--init", image)
    try:
        shown = await _docker("inspect", "--format", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", name)
        address = shown.strip()
        await _docker("exec", name, "sh", "-c", PREPARE[tool.name])
        await _until(lambda: _answers(f"http://{address}:{tool.port}{tool.health_path}"))
        yield address
    finally:
        await _docker("kill", name)


async def _docker(*arguments: str) -> str:
    done = await asyncio.to_thread(
        subprocess.run, ("docker", *arguments), check=True, stdout=subprocess.PIPE, encoding="utf-8"
    )
    return done.stdout


def _answers(address: str) -> bool:
    try:
        with urlopen(address, timeout=2):  # noqa: S310 - our own address
            return True
    except OSError:
        return False


async def _until(condition: Callable[[], bool], seconds: float = 60) -> None:
    async with asyncio.timeout(seconds):
        while not await asyncio.to_thread(condition):
            await asyncio.sleep(0.2)


async def record(tool: Tool, story: str, folder: Path, seconds: int) -> None:
    async with ide(tool) as address, RecordingRelay(address, tool.port, folder) as relay, async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path="/usr/bin/chromium", args=list(CHROMIUM))
        context = await browser.new_context(viewport={"width": 1400, "height": 900})
        session = Session(context, f"http://127.0.0.1:{relay.port}/", relay.cut)
        try:
            await STORIES[tool.name, story](session, seconds)
        finally:
            for number, page in enumerate(context.pages):
                await page.screenshot(path=folder / f"page-{number}.png")
            await browser.close()
            relay.marks = [(at - relay.began, doing) for at, doing in session.marks]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", choices=sorted(TOOLS))
    parser.add_argument("story", choices=("idle", "work"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=int, default=30, help="how long an untouched tab is watched")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(record(TOOLS[asked.tool], asked.story, asked.folder, asked.seconds))


if __name__ == "__main__":
    main()
