from pathlib import Path

import pytest

from tests.cli.command import Command


@pytest.fixture
def codehub(tmp_path: Path) -> Command:
    return Command(tmp_path)
