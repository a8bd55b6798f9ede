"""Workspaces of both runtimes, with a Python inside."""

from collections.abc import Iterator

import pytest

from tests.security.python_image import python_image


@pytest.fixture(scope="session")
def docker_image() -> Iterator[str]:
    with python_image() as image:
        yield image
