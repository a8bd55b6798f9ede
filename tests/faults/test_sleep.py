"""Homes of real workspaces go to sleep and come back: on the engine, into a directory and into S3."""

import uuid
from collections.abc import AsyncIterator, Callable

import pytest

from codehub.archives.open import ensure_bucket, open_store
from codehub.errors import CodehubError
from codehub.images.engine import open_engine
from codehub.images.host_access import find_host_access
from codehub.images.image import ensure_image
from codehub.images.job_image import JobRecipe
from codehub.model.states import Desired, Phase
from codehub.runtimes.docker.runtime import DockerRuntime
from codehub.stack.seaweedfs import SeaweedFS
from tests.faults.real_house import DockerHouse, docker_house
from tests.runtimes.docker.tidy import fetch
from tests.runtimes.docker.tool_image import HOST

BUCKET = "sleep"
FURNISH = "mkdir ~/project && cd ~/project && echo secret > token && chmod 600 token && ln -s token here"
LOOK = "cd ~/project && cat here && ls -lan --full-time"


@pytest.fixture(params=["directory", "s3"])
async def sleeping_house(
    request: pytest.FixtureRequest,
    database_url: str,
    redis_url: str,
    redis_prefix: Callable[[], str],
    docker_image: str,
    s3_server: SeaweedFS,
) -> AsyncIterator[DockerHouse]:
    try:
        async with open_engine() as docker:
            job_image = (await ensure_image(docker, JobRecipe(), find_host_access(), lambda _: None)).tag
    except CodehubError as error:
        pytest.skip(f"the image of jobs is not there and cannot be built: {error}")
    async with docker_house(database_url, redis_url, redis_prefix(), docker_image) as house:
        installation = house.installation
        house.open_runtime = lambda fence: DockerRuntime(installation, HOST, fence, job_image=job_image)
        if request.param == "s3":
            await ensure_bucket(f"s3://{BUCKET}", **s3_server.access)
            house.store = open_store(f"s3://{BUCKET}/{uuid.uuid4().hex}", **s3_server.access)
        yield house


async def test_a_real_home_is_archived_and_comes_back_as_it_was(sleeping_house: DockerHouse) -> None:
    house = sleeping_house
    house.replica()
    workspace_id = await house.create()
    await house.until_phase(workspace_id, Phase.RUNNING)
    await house.inside(workspace_id, FURNISH)
    before = await house.inside(workspace_id, LOOK)
    assert before.startswith("secret")
    await house.wish(workspace_id, Desired.ARCHIVED)
    row = await house.until_phase(workspace_id, Phase.ARCHIVED)
    assert await house.is_gone(workspace_id)
    assert await house.eyes.jobs.list(workspace_id) == ()
    assert row.archive_key is not None
    assert await house.store.head(row.archive_key) is not None
    await house.wish(workspace_id, Desired.RUNNING)
    await house.until_phase(workspace_id, Phase.RUNNING)
    assert await house.inside(workspace_id, LOOK) == before
    assert await fetch(await house.instance(workspace_id), "/starts") == b"started\n" * 2
