"""Debian packages: what is there is known, what is missing is named with the command that brings it."""

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from codehub.errors import CodehubError
from codehub.images.commands import run
from codehub.images.packages import TO_THE_END, for_sandboxes, missing, require

pytestmark = pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="not a Debian")


async def test_what_is_installed_is_known() -> None:
    assert await missing(("dpkg", "codehub-no-such-package", "bash")) == ["codehub-no-such-package"]
    assert await missing(("dpkg",)) == []


async def test_what_an_ordinary_user_lacks_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(CodehubError, match="apt-get install codehub-no-such-package"):
        await require(("dpkg", "codehub-no-such-package"), "Installing it", lambda _: None)


async def test_what_a_machine_without_an_engine_needs_is_named() -> None:
    assert {"bubblewrap", "slirp4netns", "build-essential", "python3-venv"} <= set(for_sandboxes())


async def test_an_installation_goes_on_to_its_end_when_codehub_stops(tmp_path: Path) -> None:
    begun, allowed, done = (tmp_path / name for name in ("begun", "allowed", "done"))
    script = 'touch "$0"; until [ -e "$1" ]; do sleep 0.05; done; echo words && touch "$2"'
    command = (*TO_THE_END, "sh", "-c", script, *map(str, (begun, allowed, done)))
    waiting = asyncio.create_task(run(command, "It could not be installed."))
    await _appears(begun)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    allowed.touch()
    await _appears(done)


async def test_an_installation_that_fails_says_why() -> None:
    with pytest.raises(CodehubError, match=r"It could not be installed\.(.|\n)*no such package"):
        await run((*TO_THE_END, "sh", "-c", "echo no such package >&2; exit 100"), "It could not be installed.")


async def _appears(file: Path) -> None:
    async with asyncio.timeout(60):
        while not await asyncio.to_thread(file.exists):
            await asyncio.sleep(0.02)
