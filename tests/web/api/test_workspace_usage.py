"""What a workspace used in the last hour, over HTTP."""

from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi import FastAPI

from codehub.model.usage import Sample
from codehub.settings import Settings
from codehub.web.parts import Parts
from tests.coordinators.house import until
from tests.web.api.people import People
from tests.web.api.workspaces import ROOT, Owner

FIRST = Sample(datetime(2026, 1, 31, 12, tzinfo=UTC), None, 2.0, 1000, 2000, 3, None)
SECOND = Sample(datetime(2026, 1, 31, 12, 0, 15, tzinfo=UTC), 0.5, 2.0, 1500, 2000, 4, 5000)


@pytest.fixture
def settings(tmp_path: Path, redis_prefix: Callable[[], str]) -> Settings:
    return Settings.load({"CODEHUB_DATA_DIR": str(tmp_path), "REDIS_CHANNEL_USAGE_PREFIX": redis_prefix()}, tmp_path)


async def test_its_last_hour_can_be_read_by_its_owner_only(app: FastAPI, ada: Owner, people: People) -> None:
    garden = await ada.create("garden")
    parts: Parts = app.state.parts
    for sample in (FIRST, SECOND):
        await parts.usage.write(UUID(garden["id"]), sample)

    async def known() -> httpx.Response | None:
        """A Redis that takes long to answer on a busy machine counts as away."""
        answer = await ada.client.get(f"{ROOT}/{garden['id']}/usage")
        assert answer.status_code == 200
        return answer if answer.json()["samples"] else None

    used = (await until(known, 60)).json()
    told = [asdict(each) | {"at": each.at.isoformat()} for each in (FIRST, SECOND)]
    assert used == {"every_seconds": 15, "samples": told}
    stranger = await people.program(await people.user("eve"))
    for client, workspace in ((stranger, garden["id"]), (ada.client, uuid4())):
        refused = await client.get(f"{ROOT}/{workspace}/usage")
        assert (refused.status_code, refused.json()["code"]) == (404, "not_found")


async def test_of_one_that_never_ran_nothing_is_known(ada: Owner) -> None:
    garden = await ada.create("garden")
    assert (await ada.client.get(f"{ROOT}/{garden['id']}/usage")).json()["samples"] == []
