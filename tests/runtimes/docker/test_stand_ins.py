"""A leader that is deposed while it asks for a container beside a home that is gone: the engine makes an empty volume
in its name, which nobody takes for a home, and the collector takes away."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from codehub.coordinators.leadership import Deposed
from codehub.decide.orphans import OrphanKind
from codehub.job.order import Kind
from codehub.runtimes.docker.runtime import DockerRuntime
from codehub.runtimes.errors import InUse, NotFound
from codehub.runtimes.protocols import VolumeSpec
from tests.contracts.job_kit import errand
from tests.contracts.object_store_places import in_directory
from tests.coordinators.collecting import Collecting, collecting
from tests.runtimes.docker.inside import House
from tests.runtimes.docker.test_homes import delete_at_once
from tests.runtimes.docker.tool_image import HOST


class Latecomer:
    """A fence that lets one request through, with the home gone right before it, and none after."""

    def __init__(self, home: VolumeSpec) -> None:
        self._home = home
        self._is_deposed = False

    def check(self) -> None:
        if self._is_deposed:
            raise Deposed
        self._is_deposed = True
        delete_at_once(self._home.name)


async def leave_stand_in(house: House, home: VolumeSpec, folder: Path) -> str:
    """A job's container that was never started, and the volume that the engine made for it."""
    await house.runtime.volumes.create(home)
    late = DockerRuntime(house.installation, HOST, Latecomer(home).check, job_image=house.image)
    try:
        with pytest.raises(Deposed):
            await late.jobs.run(errand(folder).spec(Kind.ARCHIVE, home))
    finally:
        await late.close()
    (job,) = await house.runtime.jobs.list(home.workspace_id)
    return job.name


async def names(house: House) -> list[str]:
    return [each.name for each in await house.runtime.volumes.stand_ins()]


async def test_what_stands_in_for_a_home_is_none(house: House, tmp_path: Path) -> None:
    home, volumes = house.home(), house.runtime.volumes
    job = await leave_stand_in(house, home, tmp_path)
    assert await names(house) == [home.name]
    assert await volumes.list() == ()
    with pytest.raises(NotFound):
        await house.runtime.instances.start(house.spec(home))
    with pytest.raises(InUse):
        await volumes.remove_stand_in(home.name)
    await house.runtime.jobs.remove(job)
    await volumes.delete(home.name)
    assert await names(house) == [home.name]
    await volumes.remove_stand_in(home.name)
    assert await names(house) == []


async def test_a_home_is_not_taken_for_what_stands_in_for_one(house: House) -> None:
    home = house.home()
    await house.runtime.volumes.create(home)
    await house.runtime.volumes.remove_stand_in(home.name)
    assert [each.name for each in await house.runtime.volumes.list()] == [home.name]


@pytest.fixture
async def collector(house: House, database_url: str, tmp_path: Path) -> AsyncIterator[Collecting]:
    def on_the_engine(name: str, part: object) -> object:
        return house.runtime if name == "runtime" else part

    async with collecting(database_url, in_directory(tmp_path).open(), reached=on_the_engine) as made:
        yield made


async def test_the_collector_takes_it_away_after_its_grace_and_leaves_the_home(
    house: House, collector: Collecting, tmp_path: Path
) -> None:
    now, gone = house.home(), house.home()
    await house.runtime.volumes.create(now)
    workspace_id = await collector.workspace(home_volume=now.name)
    late = VolumeSpec(gone.name, workspace_id, gone.op_id, gone.epoch)
    await leave_stand_in(house, late, tmp_path)
    collector.lead()
    assert (await collector.round())["deleted"] == {}
    assert await names(house) == [late.name]
    await collector.graces_end()
    assert (await collector.round())["deleted"] == {OrphanKind.JOB: 1, OrphanKind.VOLUME: 1}
    assert await names(house) == []
    assert [each.name for each in await house.runtime.volumes.list()] == [now.name]
