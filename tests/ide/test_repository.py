"""A repository is cloned into the home of a real IDE at its first start, from a server that workspaces reach."""

import asyncio
import subprocess
from pathlib import Path
from uuid import UUID

import pytest

from tests.cli.test_clone_inside import MAKE_A_REPOSITORY
from tests.coordinators.house import until
from tests.front_door.house import Person
from tests.ide.house import SEEN_SECONDS, IdeHouse
from tests.runtimes.docker.inside import root_only
from tests.runtimes.docker.outside import PORT, far_away

pytestmark = [root_only, pytest.mark.timeout(600)]


async def until_told(ada: Person, workspace_id: UUID, count: int) -> list[tuple[str, str]]:
    """What its history says of the repository, oldest first."""

    async def told() -> list[tuple[str, str]] | None:
        events = (await ada.call("GET", f"/workspaces/{workspace_id}/events")).json()["items"]
        outcomes = [(each["after"], each["detail"]) for each in reversed(events) if each["kind"] == "clone"]
        return outcomes if len(outcomes) >= count else None

    return await until(told, SEEN_SECONDS)


async def test_it_is_in_the_home_and_is_not_brought_back_by_the_next_start(
    own_origins: IdeHouse, tmp_path: Path
) -> None:
    ada = await own_origins.person()
    await asyncio.to_thread(subprocess.run, ["sh", "-ec", MAKE_A_REPOSITORY], cwd=tmp_path, check=True)
    async with far_away(files_of(tmp_path)) as address:
        url = f"http://{address}:{PORT}/garden.git"
        body = {"name": "garden", "template": "code-server", "git_url": url}
        garden = UUID((await ada.call("POST", "/workspaces", body)).json()["id"])
        told = await until_told(ada, garden, 2)
        assert told == [("begun", url), ("done", "garden")]
        await ada.until_phase(garden, "RUNNING")
        home = own_origins.home(garden)
        assert await home.run("cat garden/plants; git -C garden status --short; stat -c %U garden") == "roses\ncoder"
        await home.run("rm -rf garden")
        for wish, phase in (("stop", "STANDBY"), ("start", "RUNNING")):
            await ada.call("POST", f"/workspaces/{garden}/{wish}")
            await ada.until_phase(garden, phase)
        await home.until_prints("pgrep -f '[c]odehub clone' || ls", "")
    assert await until_told(ada, garden, 2) == told


def files_of(folder: Path) -> str:
    """A program that serves them."""
    return f"""
import functools, http.server
class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("", {PORT}), functools.partial(Files, directory={str(folder)!r}))
print("listening", flush=True)
server.serve_forever()
"""
