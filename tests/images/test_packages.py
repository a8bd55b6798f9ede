"""Debian packages: what is there is known, what is missing is named with the command that brings it."""

import os
import shutil

import pytest

from codehub.errors import CodehubError
from codehub.images.packages import missing, require

pytestmark = pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="not a Debian")


async def test_what_is_installed_is_known() -> None:
    assert await missing(("dpkg", "codehub-no-such-package", "bash")) == ["codehub-no-such-package"]
    assert await missing(("dpkg",)) == []


async def test_what_an_ordinary_user_lacks_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(CodehubError, match="apt-get install codehub-no-such-package"):
        await require(("dpkg", "codehub-no-such-package"), "Installing it", lambda _: None)
