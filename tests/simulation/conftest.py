"""What a simulated world leaves behind when it ends is heard by no other test."""

from collections.abc import Iterator

import pytest

from tests.simulation.silence import in_silence


@pytest.fixture(autouse=True)
def silence() -> Iterator[None]:
    with in_silence():
        yield
