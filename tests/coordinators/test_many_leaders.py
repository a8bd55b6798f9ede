"""Archives and restores while more than one believes to lead, and what one does that wakes up too late."""

from dataclasses import replace

import pytest

from codehub.coordinators.workspace_controller import WorkspaceController
from codehub.job.order import Kind
from codehub.job.progress import Stage
from codehub.model.states import Desired, Operation, Phase, Step
from codehub.runtimes.errors import InUse, NotFound
from codehub.runtimes.memory import MemoryRuntime
from codehub.runtimes.memory_engine import MemoryEngine
from codehub.runtimes.protocols import JobSpec, JobState
from tests.coordinators.homes import archived, content, furnished, held, hold, home_of, keys_of, opened
from tests.coordinators.house import INSTALLATION, House, until
from tests.coordinators.test_services import begun, leads


def late(engine: MemoryEngine) -> MemoryRuntime:
    """The hands of a leader that was frozen before its call and wakes up now: nothing stands before the engine."""
    return MemoryRuntime(engine, INSTALLATION)


async def test_two_controllers_at_once_archive_and_restore_every_home_once(house: House) -> None:
    first, second = house.replica(), house.replica()
    for replica, lock_name in ((first, "coordinator:wc"), (second, "coordinator:wc:by-mistake")):
        for each in replica.supervisor.coordinators:
            if isinstance(each, WorkspaceController):
                each.lock_name = lock_name
    await leads(first)
    await leads(second)
    homes = dict([await furnished(house) for _ in range(3)])
    for workspace_id in homes:
        await house.wish(workspace_id, Desired.ARCHIVED)
    for workspace_id in homes:
        await house.until_phase(workspace_id, Phase.ARCHIVED, 60)
        assert len(await keys_of(house.store, workspace_id)) == 2
    assert not house.engine.homes
    for workspace_id, before in homes.items():
        assert await opened(house, workspace_id) == before
        assert await begun(house, workspace_id, Operation.ARCHIVING) == 1
        assert await begun(house, workspace_id, Operation.RESTORING) == 1


@pytest.mark.parametrize("kind", Kind)
async def test_a_job_begun_late_changes_nothing_of_what_was_made_since(house: House, kind: Kind) -> None:
    house.replica()
    workspace_id, before = await (archived(house) if kind is Kind.RESTORE else furnished(house))
    hold(house, kind, Stage.SURVEY if kind is Kind.ARCHIVE else Stage(kind.value))
    await house.wish(workspace_id, Desired.STANDBY if kind is Kind.RESTORE else Desired.ARCHIVED)
    await held(house, workspace_id, Step(kind.value), Stage.SURVEY if kind is Kind.ARCHIVE else Stage(kind.value))
    [spec] = [job.spec for job in house.engine.disk.jobs.values()]
    house.engine.release_jobs(workspace_id)
    await house.until_phase(workspace_id, Phase.STANDBY if kind is Kind.RESTORE else Phase.ARCHIVED)
    assert await opened(house, workspace_id) == before
    home = home_of(house, await house.row(workspace_id))
    (home / "newer").write_text("newer\n")
    newer = content(home)
    kept = [info async for info in house.store.list(f"{workspace_id}/")]
    await run_late(house, spec)
    assert content(home) == newer
    assert [info async for info in house.store.list(f"{workspace_id}/")] == kept


async def run_late(house: House, spec: JobSpec) -> None:
    """To its end. Where its home is gone the engine refuses it."""
    runtime = late(house.engine)
    try:
        await runtime.jobs.run(spec)
    except NotFound:
        return

    async def ended() -> bool | None:
        return (await runtime.jobs.status(spec.name)).state is JobState.ENDED or None

    await until(ended, 30)
    await runtime.jobs.remove(spec.name)


async def test_a_late_job_of_a_failed_attempt_cannot_replace_the_archive_of_the_next(house: House) -> None:
    """Killed, and begun again by one who does not know it: while the next attempt's archive is proven."""
    house.replica()
    workspace_id, before = await furnished(house)
    hold(house, Kind.ARCHIVE, Stage.SURVEY)
    await house.wish(workspace_id, Desired.ARCHIVED)
    await held(house, workspace_id, Step.ARCHIVE, Stage.SURVEY)
    [spec] = [job.spec for job in house.engine.disk.jobs.values()]
    hold(house, Kind.VERIFY, Stage.VERIFY)
    house.engine.kill_jobs(workspace_id)
    await held(house, workspace_id, Step.VERIFY, Stage.VERIFY)
    await run_late(house, spec)
    house.engine.release_jobs(workspace_id)
    row = await house.until_phase(workspace_id, Phase.ARCHIVED)
    assert row.archive_key != spec.order.key
    assert await opened(house, workspace_id) == before


async def test_a_home_that_is_being_packed_cannot_be_deleted_under_the_job(house: House) -> None:
    house.replica()
    workspace_id, before = await furnished(house)
    hold(house, Kind.ARCHIVE, Stage.ARCHIVE)
    await house.wish(workspace_id, Desired.ARCHIVED)
    await held(house, workspace_id, Step.ARCHIVE, Stage.ARCHIVE)
    home = (await house.row(workspace_id)).home_volume
    assert home is not None
    with pytest.raises(InUse):
        await late(house.engine).volumes.delete(home)
    house.engine.release_jobs(workspace_id)
    await house.until_phase(workspace_id, Phase.ARCHIVED)
    assert await opened(house, workspace_id) == before


async def test_a_volume_that_a_late_leader_deletes_or_makes_again_is_nobodys_home(house: House) -> None:
    house.replica()
    workspace_id, before = await furnished(house)
    old = (await house.row(workspace_id)).home_volume
    assert old is not None
    spec = house.engine.homes[old].spec
    await house.wish(workspace_id, Desired.ARCHIVED)
    await house.until_phase(workspace_id, Phase.ARCHIVED)
    assert await opened(house, workspace_id) == before
    await late(house.engine).volumes.create(replace(spec))
    await late(house.engine).volumes.delete(old)
    row = await house.row(workspace_id)
    assert row.home_volume != old
    assert content(home_of(house, row)) == before
