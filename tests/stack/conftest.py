"""Installations for the tests of the stack, as whoever runs them and, under root, also as an ordinary user."""

import os
import subprocess
from collections.abc import Iterator

import pytest

from tests.stack.installation import COMMAND, NOBODY, Installation, installation


@pytest.fixture
def codehub() -> Iterator[Installation]:
    with installation() as made:
        yield made


@pytest.fixture
def ordinary_codehub() -> Iterator[Installation]:
    """Run by a user without privileges, whoever runs the tests."""
    if os.geteuid() == 0:
        who = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]
        if subprocess.run([*who, "test", "-x", COMMAND], check=False).returncode != 0:
            pytest.skip(f"{COMMAND} lies in a private folder, where no other user can run it")
    with installation(ordinary_user=True) as made:
        yield made
