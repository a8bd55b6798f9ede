"""`kill -9` of the leading process at every recorded step of a home's way into an archive, back and to its deletion, on
the real engine: another one finishes it by itself, and every file is there as it was."""

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest

from codehub.model.states import Desired, Operation, Phase, Step
from codehub.stack.seaweedfs import SeaweedFS
from tests.coordinators.homes import keys_of
from tests.coordinators.test_archive_trouble import failures
from tests.coordinators.test_kills import steps_of
from tests.faults.gate import Gates, gate, to_port
from tests.faults.real_house import DockerHouse
from tests.faults.sleepers import JOBS_SECONDS, ServedSleepers, in_bucket, served_sleepers
from tests.job.campaign import LARGE

WAY = {
    Operation.ARCHIVING: Desired.ARCHIVED,
    Operation.RESTORING: Desired.STANDBY,
    Operation.DELETING: Desired.DELETED,
}
STEPS = [(operation, step) for operation in WAY for step in steps_of(operation)]
EMPTY = Operation.CREATE_EMPTY_ARCHIVE
VARIANTS = [("directory", 0, False)]
"""Where homes sleep, how many requests to the engine a leader survives in each step, and whether the one that it does
not survive has its effect."""
if LARGE:
    VARIANTS = [(place, passes, late) for place in ("directory", "s3") for passes in range(8) for late in (False, True)]


@pytest.fixture
async def place(
    request: pytest.FixtureRequest, house: DockerHouse, docker_image: str, redis_url: str, s3_server: SeaweedFS
) -> AsyncIterator[ServedSleepers]:
    environment = await in_bucket(s3_server) if request.param == "s3" else {}
    async with served_sleepers(house, docker_image, redis_url, **environment) as made:
        yield made


def test_every_step_that_moves_a_home_has_its_case() -> None:
    others = {Operation.NONE, Operation.PROVISIONING, Operation.STARTING, Operation.STOPPING}
    assert {*WAY, *others, EMPTY} == set(Operation)
    covered = {step for _, step in STEPS} | set(_of(EMPTY))
    assert covered == set(Step) - {step for other in others for step in _of(other)}


def _of(operation: Operation) -> list[Step]:
    return [] if operation is Operation.NONE else list(steps_of(operation))


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("place", "passes", "after_effect"), VARIANTS, indirect=["place"])
async def test_a_home_survives_the_death_of_its_leader_at_every_step(
    place: ServedSleepers, passes: int, *, after_effect: bool
) -> None:
    await place.staff()
    workspace_id, before = await place.furnished()
    killed = 0
    for operation, wish in WAY.items():
        traps = {
            step: place.lay(workspace_id, step, place.kill_leader, passes=passes, after_effect=after_effect)
            for step in steps_of(operation)
        }
        await place.carried_out(workspace_id, wish)
        killed += len(struck := [step for step, trap in traps.items() if trap.struck.is_set()])
        assert struck == list(traps) or passes, "nobody came this way"
        place.gates.traps.clear()
        if wish is Desired.STANDBY:
            assert await place.tree(workspace_id) == before
        assert len(await place.volumes(workspace_id)) == (1 if wish is Desired.STANDBY else 0)
        await place.no_jobs_are_left(workspace_id)
    assert len(place.codehub.served) - len(place.codehub.alive()) == killed
    assert await failures(place.house, workspace_id) == []


@pytest.mark.timeout(900)
async def test_an_archive_of_a_workspace_that_never_had_a_home_survives_it_too(
    house: DockerHouse, docker_image: str, redis_url: str, s3_server: SeaweedFS
) -> None:
    """Its steps ask the store alone, which is therefore reached through a gate as well."""
    port, gates = urlsplit(s3_server.endpoint).port, Gates()
    assert port is not None
    async with gate(gates, to_port(port)) as way:
        environment = await in_bucket(s3_server, way)
        async with served_sleepers(house, docker_image, redis_url, **environment) as place:
            place.gates = gates
            workspace_id = await house.create(Desired.ARCHIVED)
            traps = place.lay_in_each(workspace_id, steps_of(EMPTY), place.kill_leader)
            await place.staff()
            row = await house.until_phase(workspace_id, Phase.ARCHIVED, JOBS_SECONDS)
            assert all(trap.struck.is_set() for trap in traps.values()), "nobody came this way"
            assert await keys_of(place.store, workspace_id) == [row.archive_key, f"{row.archive_key}.meta"]
            await place.carried_out(workspace_id, Desired.STANDBY)
            assert len(await place.volumes(workspace_id)) == 1
            assert await failures(house, workspace_id) == []
