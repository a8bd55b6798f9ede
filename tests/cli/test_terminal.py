"""The whole life of a workspace in a real terminal, as a new user goes through it: `codehub up`, a login, and `ws` with
its questions and its bar that moves."""

import json
import re
import shutil
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from codehub.stack.account import service_account
from codehub.stack.data_folder import DataFolder
from tests.cli.serving import install_small_ide
from tests.faults.serving import QUICK
from tests.stack.installation import COMMAND, Installation, installation

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(not all(map(shutil.which, ("tmux", "jq"))), reason="tmux or jq is not installed"),
]

PROMPT = "ready>"
SECONDS = 60.0


@dataclass
class Terminal:
    """A window of 100 columns. `name` is that of its tmux server, which nobody else talks to."""

    environment: dict[str, str]
    folder: Path
    name: str = field(default_factory=lambda: f"codehub-{uuid.uuid4().hex}")

    def tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self.name, "-f", "/dev/null", *arguments],
            env=self.environment | {"TERM": "xterm-256color", "LANG": "C.UTF-8"},
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def open(self) -> None:
        shell = f"env PS1='{PROMPT} ' bash --norc --noprofile"
        self.tmux("new-session", "-d", "-s", "w", "-x", "100", "-y", "50", shell)
        self.sees(PROMPT)

    def types(self, text: str, *keys: str) -> None:
        self.tmux("send-keys", "-t", "w", "-l", text)
        self.tmux("send-keys", "-t", "w", *(keys or ("Enter",)))

    def screen(self) -> str:
        """Lines that the window broke are joined again."""
        return self.tmux("capture-pane", "-p", "-J", "-S", "-200", "-t", "w")

    def sees(self, pattern: str) -> "re.Match[str]":
        deadline = time.monotonic() + SECONDS
        while (found := re.search(pattern, self.screen(), re.MULTILINE)) is None:
            assert time.monotonic() < deadline, f"{pattern!r} does not appear in:\n{self.screen()}"
            time.sleep(0.05)
        return found

    def runs(self, command: str) -> str:
        """What the command leaves on the screen when it has ended."""
        self.tmux("send-keys", "-R", "-t", "w")
        self.tmux("clear-history", "-t", "w")
        self.types(f"{command}; echo ended $?")
        code = self.sees(r"^ended (\d+)$")
        assert code[1] == "0", self.screen()
        return self.screen()


@contextmanager
def terminal(codehub: Installation) -> Iterator[Terminal]:
    environment = codehub.environment | {"PATH": f"{Path(COMMAND).parent}:{codehub.environment['PATH']}", **QUICK}
    window = Terminal(environment, codehub.folder)
    window.open()
    try:
        yield window
    finally:
        window.tmux("kill-server")


@pytest.fixture
def codehub() -> Iterator[Installation]:
    with installation() as made:
        DataFolder(made.data, service_account()).prepare()
        install_small_ide(made.data)
        try:
            yield made
        finally:
            made.run("down")
            made.run("reset", "--yes")


def test_a_new_user_goes_through_the_whole_life_of_a_workspace(codehub: Installation) -> None:
    with terminal(codehub) as window:
        started = window.runs("codehub up --detach")
        found = re.search(r"password: +(\S+)", started)
        assert found is not None
        assert "You are not logged in to any codehub" in fails(window, "codehub ws list", 9)

        window.types("codehub login --password --user admin")
        window.sees("Password of admin at http://127.0.0.1:")
        window.types(found[1])
        window.sees("You are logged in to .* as admin.")
        assert found[1] not in window.screen().rpartition("Password of admin")[2]

        assert "no workspaces yet" in window.runs("codehub ws list")
        window.types("codehub ws create garden --wait")
        window.sees(r"\d s  (A home for its files is being made|It is starting|It starts)")
        window.sees("garden is RUNNING.")
        assert "It is starting" not in window.screen(), "the bar is gone when it is over"

        assert re.search(r"garden +RUNNING +code-server +sleeps in 10 min", window.runs("codehub ws list"))
        assert "listening" in window.runs("codehub ws logs garden")
        assert "phase      STANDBY -> RUNNING" in window.runs("codehub ws events garden")
        assert "garden is STANDBY." in window.runs("codehub ws stop garden --wait")
        assert "garden is changed." in window.runs("codehub ws edit garden --standby-after 2h")
        assert "garden is RUNNING." in window.runs("codehub ws start garden --wait")
        assert "after 2 hours without use" in window.runs("codehub ws show garden")
        assert "Did you mean garden?" in fails(window, "codehub ws stop gardn", 10)

        listed = window.runs("codehub ws list --json | jq -r '.items[] | .name + \" is \" + .phase'")
        assert re.search("^garden is RUNNING$", listed, re.MULTILINE)
        failure = window.runs("codehub ws show gardn --json 2>&1 | jq .exit_code")
        assert re.search("^10$", failure, re.MULTILINE)
        interrupted(window)

        window.types("codehub ws delete garden --wait")
        window.sees(r"Delete garden of admin and everything in its home\? This cannot be undone. \[y/N\]:")
        window.types("y")
        window.sees("garden is deleted. This cannot be undone.")
        assert json.loads(codehub.run("ws", "list", "--json").stdout)["items"] == []
        assert "You are logged out" in window.runs("codehub logout")
        assert "codehub has stopped." in window.runs("codehub down")


def fails(window: Terminal, command: str, code: int) -> str:
    return window.runs(f"{command}; test $? = {code}")


def interrupted(window: Terminal) -> None:
    """Ctrl-C while it follows: the prompt comes back, and nothing else has happened."""
    window.types("clear; codehub ws logs garden --follow; echo ended $?")
    window.sees("^listening$")
    window.types("", "C-c")
    window.sees("ended 0$")
