"""`kill -9` of the collector in the middle of a round: the next one goes on, what was to go goes, and what was to stay
comes back with every file. Every single step has its case in `tests/coordinators/test_gc_kills.py`."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from urllib.parse import urlsplit

import pytest
from sqlalchemy import text

from codehub.model.states import Desired
from codehub.stack.seaweedfs import SeaweedFS
from tests.coordinators.homes import keys_of
from tests.coordinators.house import until
from tests.faults.gate import Gates, Trap, gate, to_port
from tests.faults.real_house import DockerHouse
from tests.faults.sleepers import COLLECTOR, JOBS_SECONDS, ServedSleepers, in_bucket, served_sleepers
from tests.job.campaign import LARGE

STEPS = {
    "its archive's row is gone, the marker is not": ("DELETE .*[.]meta", False),
    "the archive is gone, nobody has noted it": ("DELETE .*[.]zst ", True),
}
"""Where a round is when the request fails that begins so: before its effect, or after."""
if LARGE:
    STEPS |= {
        "it looks at the counter": ("GET .*counter", False),
        "it lists what is there": ("GET .*list-type", False),
        "it looks for unfinished uploads": ("GET .*uploads", False),
        "the marker is gone": ("DELETE .*[.]meta", True),
        "the archive is not": ("DELETE .*[.]zst ", False),
    }
EAGER = {"ARCHIVE_GENERATIONS": "1", "ARCHIVE_GC_GRACE_SECONDS": "1", "COORDINATOR_GC_INTERVAL": "1"}
BEGUN = text("SELECT EXISTS (SELECT FROM gc_rounds WHERE began_at IS NOT NULL AND ended_at IS NULL)")


@pytest.fixture
async def doors() -> Gates:
    """Of the store."""
    return Gates()


@pytest.fixture
async def place(
    house: DockerHouse, docker_image: str, redis_url: str, s3_server: SeaweedFS, doors: Gates
) -> AsyncIterator[ServedSleepers]:
    port = urlsplit(s3_server.endpoint).port
    assert port is not None
    async with gate(doors, to_port(port)) as way:
        environment = await in_bucket(s3_server, way)
        async with served_sleepers(house, docker_image, redis_url, **environment, **EAGER) as made:
            yield made


@pytest.mark.timeout(900)
async def test_a_collector_that_is_killed_is_followed_by_one_that_takes_what_was_to_go_and_nothing_else(
    place: ServedSleepers, doors: Gates
) -> None:
    async def in_a_round() -> bool:
        async with place.house.pool.connect() as connection:
            return bool(await connection.scalar(BEGUN))

    await place.staff()
    workspace_id, before = await place.furnished()
    older = (await place.carried_out(workspace_id, Desired.ARCHIVED)).archive_key
    await place.carried_out(workspace_id, Desired.STANDBY)
    kill = partial(place.kill_leader, COLLECTOR)
    laid = [Trap(in_a_round, kill, request, 0, after_effect) for request, after_effect in STEPS.values()]
    doors.traps = [*laid]
    newer = (await place.carried_out(workspace_id, Desired.ARCHIVED)).archive_key

    async def collected() -> bool | None:
        there = await keys_of(place.store, workspace_id)
        return (older not in there and f"{older}.meta" not in there) or None

    for trap in laid:
        await asyncio.wait_for(trap.struck.wait(), JOBS_SECONDS)
    await until(collected, JOBS_SECONDS)
    assert await keys_of(place.store, workspace_id) == [newer, f"{newer}.meta"]
    await place.carried_out(workspace_id, Desired.STANDBY)
    assert await place.tree(workspace_id) == before
