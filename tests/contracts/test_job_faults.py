"""The switches for jobs of the remembered runtime: each does what it says, exactly where it says."""

import gc
import signal
import uuid
from pathlib import Path

import pytest

from codehub.job.order import DirectoryPlace, Kind
from codehub.job.progress import Stage
from codehub.runtimes.errors import NotFound, RuntimeAway, RuntimeFault
from codehub.runtimes.memory import MemoryRuntime
from codehub.runtimes.memory_disk import Trip
from codehub.runtimes.memory_engine import Call, Fault, MemoryEngine
from codehub.runtimes.memory_job import RESULT
from codehub.runtimes.protocols import JobSpec, JobState, VolumeSpec
from tests.contracts.job_kit import done, ended, errand, fill
from tests.coordinators.house import until

BROKEN = RuntimeFault("switched on")
UNFINISHED = ".unfinished-"


class Bench:
    """A runtime of one workspace, whose home has something in it, and its archive."""

    def __init__(self, folder: Path) -> None:
        self.engine = MemoryEngine()
        self.runtime = MemoryRuntime(self.engine, "bench")
        self.home = VolumeSpec("home", uuid.uuid4(), uuid.uuid4(), 1)
        self.errand = errand(folder)

    async def prepared(self) -> JobSpec:
        await self.runtime.volumes.create(self.home)
        fill(self.engine.home("home"))
        return self.errand.spec(Kind.ARCHIVE, self.home)

    @property
    def files(self) -> set[str]:
        """What is in the archive's folder, drafts by their beginning."""
        assert isinstance(self.errand.place, DirectoryPlace)
        names = [path.name for path in self.errand.place.folder.iterdir()]
        return {UNFINISHED if name.startswith(UNFINISHED) else name for name in names}

    async def told(self, name: str, word: str) -> None:
        """Until it has said that."""
        async for line in self.runtime.jobs.follow(name):
            if f'"{word}"'.encode() in line:
                return

    async def held(self, name: str, word: str) -> None:
        """Until it has said that, and has stopped."""
        await self.told(name, word)

        async def stopped() -> bool | None:
            return self.engine.disk.jobs[name].is_held or None

        await until(stopped, 30)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def test_a_job_is_held_where_it_tells_of_a_stage_until_it_is_released(bench: Bench) -> None:
    spec = await bench.prepared()
    bench.engine.trips.append(Trip(Kind.ARCHIVE, Stage.COMMIT, signal.SIGSTOP))
    await bench.runtime.jobs.run(spec)
    await bench.held(spec.name, Stage.COMMIT)
    assert (await bench.runtime.jobs.status(spec.name)).state is JobState.RUNNING
    assert bench.files == {UNFINISHED}
    bench.engine.release_jobs(bench.home.workspace_id)
    assert (await ended(bench.runtime, spec.name)).exit_code == 0
    assert bench.files == {"home.tar.zst", "home.tar.zst.meta"}


async def test_a_job_is_killed_where_it_tells_of_a_stage_and_the_next_is_not(bench: Bench) -> None:
    spec = await bench.prepared()
    bench.engine.trips.append(Trip(Kind.ARCHIVE, Stage.COMMIT, signal.SIGKILL))
    assert (await done(bench.runtime, spec)).exit_code == 137
    assert bench.files == {UNFINISHED}
    await bench.runtime.jobs.remove(spec.name)
    assert (await done(bench.runtime, spec)).exit_code == 0
    assert bench.files == {"home.tar.zst", "home.tar.zst.meta"}


async def test_a_job_can_be_killed_when_its_work_is_done(bench: Bench) -> None:
    spec = await bench.prepared()
    bench.engine.trips.append(Trip(Kind.ARCHIVE, RESULT, signal.SIGKILL))
    assert (await done(bench.runtime, spec)).exit_code == 137
    assert bench.files == {"home.tar.zst", "home.tar.zst.meta"}


async def test_a_trip_waits_for_a_job_of_its_kind(bench: Bench) -> None:
    spec = await bench.prepared()
    bench.engine.trips.append(Trip(Kind.VERIFY, Stage.VERIFY, signal.SIGKILL))
    assert (await done(bench.runtime, spec)).exit_code == 0
    assert (await done(bench.runtime, bench.errand.spec(Kind.VERIFY, bench.home))).exit_code == 137


async def test_jobs_are_killed_and_lost_from_outside(bench: Bench) -> None:
    spec = await bench.prepared()
    bench.engine.trips += [Trip(Kind.ARCHIVE, Stage.SURVEY, signal.SIGSTOP)] * 2
    await bench.runtime.jobs.run(spec)
    await bench.told(spec.name, Stage.SURVEY)
    bench.engine.kill_jobs(bench.home.workspace_id)
    assert (await ended(bench.runtime, spec.name)).exit_code == 137
    await bench.runtime.jobs.remove(spec.name)
    await bench.runtime.jobs.run(spec)
    await bench.told(spec.name, Stage.SURVEY)
    bench.engine.lose_jobs(bench.home.workspace_id)
    with pytest.raises(NotFound):
        await bench.runtime.jobs.status(spec.name)


@pytest.mark.parametrize(("after_effect", "jobs"), [(False, 0), (True, 1)])
async def test_a_call_fails_before_or_after_its_effect(bench: Bench, *, after_effect: bool, jobs: int) -> None:
    spec = await bench.prepared()
    bench.engine.lay(Call.RUN_JOB, Fault(error=BROKEN, after_effect=after_effect, times=1))
    with pytest.raises(RuntimeFault):
        await bench.runtime.jobs.run(spec)
    assert len(await bench.runtime.jobs.list()) == jobs
    assert (await done(bench.runtime, spec)).exit_code == 0
    bench.engine.lay(Call.REMOVE_JOB, Fault(error=BROKEN, after_effect=after_effect, times=1))
    with pytest.raises(RuntimeFault):
        await bench.runtime.jobs.remove(spec.name)
    assert len(await bench.runtime.jobs.list()) == 1 - jobs


async def test_looks_can_fail_be_old_or_leave_things_out(bench: Bench) -> None:
    spec = await bench.prepared()
    bench.engine.freeze_listings()
    assert (await done(bench.runtime, spec)).exit_code == 0
    assert await bench.runtime.jobs.list() == ()
    bench.engine.thaw_listings()
    bench.engine.hidden.add(spec.name)
    assert await bench.runtime.jobs.list() == ()
    bench.engine.hidden.clear()
    for call in (Call.LIST_JOBS, Call.JOB_STATUS, Call.FOLLOW_JOB):
        bench.engine.lay(call, Fault(error=BROKEN, times=1))
    jobs = bench.runtime.jobs
    for look in (jobs.list(), jobs.status(spec.name), anext(jobs.follow(spec.name))):
        with pytest.raises(RuntimeFault):
            await look


async def test_an_engine_that_goes_away_breaks_the_output_off_and_the_job_goes_on(bench: Bench) -> None:
    spec = await bench.prepared()
    bench.engine.trips.append(Trip(Kind.ARCHIVE, Stage.SURVEY, signal.SIGSTOP))
    await bench.runtime.jobs.run(spec)
    await bench.held(spec.name, Stage.SURVEY)
    output = bench.runtime.jobs.follow(spec.name)
    await anext(output)
    bench.engine.go_away()
    with pytest.raises(RuntimeAway):
        await anext(output)
    bench.engine.release_jobs(bench.home.workspace_id)
    bench.engine.come_back()
    assert (await ended(bench.runtime, spec.name)).exit_code == 0


async def test_another_engine_has_neither_jobs_nor_files(bench: Bench) -> None:
    spec = await bench.prepared()
    await done(bench.runtime, spec)
    bench.engine.replace_engine()
    assert await bench.runtime.jobs.list() == ()
    await bench.runtime.volumes.create(bench.home)
    assert list(bench.engine.home("home").iterdir()) == []


async def test_a_home_that_is_deleted_or_lost_takes_its_files_with_it(bench: Bench) -> None:
    await bench.prepared()
    folder = bench.engine.home("home")
    assert await bench.runtime.volumes.usage("home") > 100_000
    await bench.runtime.volumes.delete("home")
    assert not folder.exists()
    await bench.prepared()
    bench.engine.lose_volume("home")
    assert not folder.exists()


async def test_with_the_engine_go_its_processes_and_its_folder(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    spec = await bench.prepared()
    bench.engine.trips.append(Trip(Kind.ARCHIVE, Stage.SURVEY, signal.SIGSTOP))
    await bench.runtime.jobs.run(spec)
    pid, folder = bench.engine.disk.jobs[spec.name]._process.pid, bench.engine.home("home")
    del bench
    gc.collect()
    assert not folder.exists()
    assert not runs(pid)


def runs(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()
