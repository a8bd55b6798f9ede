"""The repository that a workspace was made with, cloned from inside it: once, beside the IDE, and told."""

import asyncio
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.machinery import SourceFileLoader
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import pytest

from codehub.images.inside import SOURCE
from tests.cli.serving import Person
from tests.cli.test_hold_inside import inside, running, token_of

pytestmark = pytest.mark.timeout(300)

NOBODY = "http://127.0.0.1:1/shop/garden.git"
MAKE_A_REPOSITORY = """
    git init --quiet --initial-branch main work
    echo roses > work/plants
    git -C work -c user.name=Ada -c user.email=ada@example.org add plants
    git -C work -c user.name=Ada -c user.email=ada@example.org commit --quiet --message planted
    git clone --quiet --bare work garden.git
    git -C garden.git update-server-info
"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Only what the tests look at is printed."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a git server: for reading, files over HTTP are one."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[str]:
    folder = tmp_path / "repositories"
    folder.mkdir()
    subprocess.run(["sh", "-ec", MAKE_A_REPOSITORY], cwd=folder, check=True)
    with served(folder) as address:
        yield f"{address}/garden.git"


class Garden:
    """A workspace that runs, and homes beside it, in which its program is run by hand."""

    def __init__(self, owner: Person, workspace: Mapping[str, Any], token: str, folder: Path) -> None:
        self._owner = owner
        self._folder = folder
        self._told = {
            "CODEHUB_SERVER": f"unix:{owner.server.data}/inside/socket",
            "CODEHUB_TOKEN": token,
            "CODEHUB_WORKSPACE": workspace["id"],
        }

    def new_home(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self._folder))

    async def clone(self, url: str, home: Path, *options: str) -> int:
        """As the user of the workspace would; the exit code."""
        known = {"PATH": os.environ["PATH"], "HOME": str(home), "CODEHUB_GIT_URL": url, **self._told}
        command = [str(self._owner.server.data / "inside" / "bin" / "codehub"), "clone", *options]
        done = await asyncio.to_thread(subprocess.run, command, env=known, capture_output=True, check=False)
        return done.returncode

    async def outcomes(self) -> list[tuple[str, str]]:
        return await outcomes(self._owner)


async def outcomes(owner: Person) -> list[tuple[str, str]]:
    """What its history tells of the repository, oldest first."""
    events = (await owner.codehub("ws", "events", "garden", "--all", "--json")).json()["items"]
    return [(each["after"], each["detail"]) for each in reversed(events) if each["kind"] == "clone"]


@pytest.fixture
async def garden(ada: Person, tmp_path: Path) -> Garden:
    workspace = await running(ada)
    return Garden(ada, workspace, await token_of(ada, workspace), tmp_path)


async def test_it_is_cloned_once_in_the_life_of_a_home_and_again_only_by_hand(garden: Garden, repository: str) -> None:
    home = garden.new_home()
    assert await garden.clone(repository, home, "--first") == 0
    plants = home / "garden" / "plants"
    assert plants.read_text() == "roses\n"
    assert await garden.outcomes() == [("begun", repository), ("done", "garden")]
    (home / "garden").rename(home / "elsewhere")
    assert await garden.clone(repository, home, "--first") == 0
    assert not plants.exists()
    assert await garden.clone(repository, home) == 0
    assert plants.exists()
    assert await garden.clone(repository, home) == 1, "it is there already"
    assert len(await garden.outcomes()) == 4

    other = garden.new_home()
    (other / "garden").mkdir()
    assert await garden.clone(repository, other, "--first") == 0
    assert list((other / "garden").iterdir()) == [], "what has the name already is left as it is"
    assert len(await garden.outcomes()) == 4


async def test_why_it_failed_is_told_in_the_history_and_in_the_home_until_it_is_mended(
    garden: Garden, repository: str
) -> None:
    home = garden.new_home()
    assert await garden.clone(f"{repository}x", home, "--first") == 1
    [_, (outcome, why)] = await garden.outcomes()
    assert (outcome, "not found" in why) == ("failed", True)
    word = home / "clone-failed.txt"
    assert why in word.read_text()
    assert "codehub clone" in word.read_text()
    assert why.split(";")[0] in (home / ".local/state/codehub/clone.log").read_text()
    assert await garden.clone(f"{repository}x", home, "--first") == 0, "not a second time by itself"
    assert len(await garden.outcomes()) == 2
    assert await garden.clone(repository, home) == 0
    assert not word.exists()

    for url in ("ext::sh -c 'touch $HOME/owned'", "file:///etc", "git://127.0.0.1:1/a"):
        other = garden.new_home()
        assert await garden.clone(url, other, "--first") == 1
        assert not (other / "owned").exists()
        assert "not allowed" in (await garden.outcomes())[-1][1], url


async def test_a_workspace_runs_although_its_repository_cannot_be_had(ada: Person) -> None:
    made = await ada.codehub("ws", "create", "garden", "--git", NOBODY, "--wait", "--json")
    assert made.json()["phase"] == "RUNNING"
    async with asyncio.timeout(120):
        while len(told := await outcomes(ada)) < 2:
            await asyncio.sleep(0.2)
    assert [outcome for outcome, _ in told] == ["begun", "failed"]
    assert "127.0.0.1" in told[1][1]
    assert NOBODY in await inside(ada, made.json(), "cat ~/clone-failed.txt")

    await ada.codehub("ws", "stop", "garden", "--wait")
    await ada.codehub("ws", "start", "garden", "--wait")
    here = f"{MAKE_A_REPOSITORY} python3 -m http.server --bind 127.0.0.1 8000 > /dev/null 2>&1 &"
    await inside(ada, made.json(), f"cd /tmp; {here}")
    clone = "CODEHUB_GIT_URL=http://127.0.0.1:8000/garden.git codehub clone"
    cloned = f"for _ in 1 2 3 4 5 6 7 8 9 10; do {clone} > /dev/null 2>&1 && break; sleep 1; done; cat ~/garden/plants"
    assert await inside(ada, made.json(), cloned) == "roses"
    assert (await outcomes(ada))[:2] == told, "the second start has tried nothing"
    assert (await outcomes(ada))[-1] == ("done", "garden")


@pytest.fixture(scope="module")
def program() -> ModuleType:
    loader = SourceFileLoader("inside_codehub", str(SOURCE / "codehub"))
    module = ModuleType(loader.name)
    loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        ("https://git.example.org/shop/garden.git", "garden"),
        ("https://git.example.org/shop/garden/", "garden"),
        ("git@git.example.org:garden.git", "garden"),
        ("ssh://git@git.example.org:2222/shop/my.garden", "my.garden"),
        ("https://git.example.org/shop/..", "repository"),
        ("https://git.example.org/shop/.git", "repository"),
        ("https://git.example.org/shop/-x", "repository"),
        ("https://git.example.org/shop/.ssh", "repository"),
    ],
)
def test_the_folder_has_the_name_of_the_repository(program: ModuleType, url: str, folder: str) -> None:
    assert program.folder_of(url) == folder


def test_a_password_in_an_address_is_not_told(program: ModuleType) -> None:
    said = "fatal: unable to access 'https://ada:secret@git.example.org/a.git/':\n refused"
    assert program.shown(said) == "fatal: unable to access 'https://git.example.org/a.git/':  refused"
