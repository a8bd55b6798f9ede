"""Installations for the tests of the stack, as whoever runs them and, under root, also as an ordinary user."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stack.installation import COMMAND, NOBODY, Installation, installation


@pytest.fixture
def codehub() -> Iterator[Installation]:
    with installation() as made:
        yield made


@pytest.fixture(scope="session")
def used_data() -> Iterator[Path]:
    """The data folder of a codehub that ran and was stopped, to be copied."""
    with installation() as made:
        made.up()
        made.down()
        yield made.data


@pytest.fixture
def used_codehub(codehub: Installation, used_data: Path) -> Installation:
    """One that ran before and is stopped now."""
    subprocess.run(["cp", "--archive", str(used_data), str(codehub.data)], check=True)
    return codehub


@pytest.fixture
def ordinary_codehub() -> Iterator[Installation]:
    """Run by a user without privileges, whoever runs the tests."""
    if os.geteuid() == 0:
        who = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]
        if subprocess.run([*who, "test", "-x", COMMAND], check=False).returncode != 0:
            pytest.skip(f"{COMMAND} lies in a private folder, where no other user can run it")
    with installation(ordinary_user=True) as made:
        yield made
