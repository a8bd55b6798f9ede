"""The real image of jobs on the engine of the tests, built where it is missing. It stays, for the next run."""

import pytest

from codehub.errors import CodehubError
from codehub.images.engine import open_engine
from codehub.images.host_access import find_host_access
from codehub.images.image import ensure_image
from codehub.images.job_image import JobRecipe


async def job_image() -> str:
    """Its name. Skips where it cannot be built: that needs packages of Debian."""
    try:
        async with open_engine() as docker:
            return (await ensure_image(docker, JobRecipe(), find_host_access(), lambda _: None)).tag
    except CodehubError as error:
        pytest.skip(f"the image of jobs is not there and cannot be built: {error}")
