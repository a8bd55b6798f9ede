"""The image of jobs: had before it is needed, or it is said why not, and tried again later."""

import json
from pathlib import Path

from sqlalchemy.ext.asyncio import create_async_engine

from codehub.coordinators.template_keeper import TRY_AGAIN_SECONDS, TemplateKeeper
from codehub.settings import Settings
from tests.logged import logged


async def test_an_image_of_jobs_that_cannot_be_made_is_told_once_an_hour(tmp_path: Path) -> None:
    now = 0.0
    settings = Settings.load({"RUNTIME_DOCKER_HOST": f"unix://{tmp_path}/nobody.sock"}, tmp_path)

    async def wake() -> None:
        """Nobody waits."""

    keeper = TemplateKeeper(settings, create_async_engine("postgresql+asyncpg://"), True, wake, elapsed=lambda: now)
    with logged() as said:
        for now in (0.0, TRY_AGAIN_SECONDS - 1, TRY_AGAIN_SECONDS + 1):  # noqa: B007 (the keeper's clock reads it)
            await keeper._have_job_image()
    told = [json.loads(line) for line in said.getvalue().splitlines()]
    assert [each["event"] for each in told] == ["the image of jobs could not be made"] * 2
    assert "does not answer" in told[0]["error"]
