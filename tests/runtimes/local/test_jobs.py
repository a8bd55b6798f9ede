"""A job without an engine: what it sees, who it is, what it may do, and what is left when something of it dies."""

import json
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from codehub.job.order import DirectoryPlace, Kind
from codehub.runtimes.errors import RuntimeFault
from codehub.runtimes.local import limits
from codehub.runtimes.local.job_records import JobRecord
from codehub.runtimes.local.process import Process, descendants
from codehub.runtimes.local.users import READERS
from codehub.runtimes.protocols import JobSpec, VolumeSpec
from tests.contracts.job_kit import Errand, SilentStore, done, ended, errand, fill, silent_store
from tests.folders import short_folder
from tests.runtimes import jobs_from_outside as outside
from tests.runtimes.local.kit import program_of
from tests.runtimes.local.place import Place

IS_ROOT = os.geteuid() == 0
POWERS = {Kind.ARCHIVE: 1 << 2, Kind.VERIFY: 1 << 2, Kind.RESTORE: 1 << 1}
"""CAP_DAC_READ_SEARCH and CAP_DAC_OVERRIDE in the kernel's numbering."""
needs_root = pytest.mark.skipif(not IS_ROOT, reason="only root can see this")


@pytest.fixture
async def store(here: Place) -> AsyncIterator[SilentStore]:
    with short_folder() as folder:
        async with silent_store(folder) as store:
            yield store
            for job in await here.open().jobs.list():
                await here.open().jobs.remove(job.name)


async def home_of(here: Place) -> tuple[VolumeSpec, Path]:
    spec = await here.spec()
    home = VolumeSpec(spec.volume, spec.workspace_id, spec.op_id, spec.epoch)
    return home, here.data / "local/volumes" / home.name / "home"


async def waiting(here: Place, store: SilentStore, kind: Kind) -> tuple[JobSpec, int]:
    """A job that has begun and waits for its store, and its process."""
    home, _ = await home_of(here)
    spec = store.errand.spec(kind, home)
    await here.open().jobs.run(spec)
    await store.is_called()
    return spec, await program_of(here, spec.name)


@needs_root
@pytest.mark.parametrize("kind", Kind)
async def test_it_sees_one_home_and_the_way_to_one_archive_and_writes_only_what_it_must(
    here: Place, store: SilentStore, kind: Kind
) -> None:
    await home_of(here)
    _, pid = await waiting(here, store, kind)
    seen = {place: writes for place, writes in outside.mounts(pid).items() if not place.startswith(("/usr", "/etc"))}
    assert seen == {
        "/": False,
        "/job/home": kind is Kind.RESTORE,
        "/job/relay": False,
        "/job/program/codehub/job": False,
    }
    assert not any(writes for place, writes in outside.mounts(pid).items() if place.startswith(("/usr", "/etc")))


@needs_root
@pytest.mark.parametrize("kind", Kind)
async def test_it_is_its_workspace_s_user_with_one_power_over_that_user_s_files(
    here: Place, store: SilentStore, kind: Kind
) -> None:
    spec, pid = await waiting(here, store, kind)
    owner = (here.data / "local/volumes" / spec.volume / "home").stat().st_uid
    assert outside.told(pid, "Uid").split() == [str(owner)] * 4
    assert outside.told(pid, "Groups").split() == [str(READERS)]
    assert {int(outside.told(pid, field), 16) for field in ("CapPrm", "CapEff", "CapBnd")} == {POWERS[kind]}
    assert outside.told(pid, "NoNewPrivs") == "1"


async def test_it_has_no_network_but_the_socket(here: Place, store: SilentStore) -> None:
    _, pid = await waiting(here, store, Kind.VERIFY)
    assert outside.interfaces(pid) == {"lo": "0"}


async def test_its_order_is_nowhere_to_be_read(here: Place, store: SilentStore) -> None:
    await waiting(here, store, Kind.VERIFY)
    assert outside.shown_anywhere(store.secret) == []
    assert outside.written_below(here.data, store.secret) == []


async def test_it_gives_way_to_everybody(here: Place, store: SilentStore) -> None:
    spec, pid = await waiting(here, store, Kind.ARCHIVE)
    assert os.getpriority(os.PRIO_PROCESS, pid) == 19
    if limits.groups_obstacle() is None:
        stats = limits.Group(spec.name, limits.PARENT_OF_JOBS).stats()
        assert stats is not None
        assert (stats.memory_limit_bytes, stats.pids > 0) == (1024**3, True)


async def test_what_its_owner_has_closed_is_archived_and_comes_back_closed(here: Place, tmp_path: Path) -> None:
    home, there = await home_of(here)
    fill(there)
    (there / "closed").mkdir()
    (there / "closed/file").write_text("closed")
    for path in (there / "closed/file", there / "closed"):
        os.chown(path, there.stat().st_uid, there.stat().st_gid)
        path.chmod(0o000)
    archive = errand(tmp_path)
    assert (await done(here.open(), archive.spec(Kind.ARCHIVE, home))).exit_code == 0
    again = VolumeSpec(f"{home.name}-again", home.workspace_id, home.op_id, 1)
    await here.open().volumes.create(again)
    assert (await done(here.open(), archive.spec(Kind.RESTORE, again))).exit_code == 0
    closed = here.data / "local/volumes" / again.name / "home/closed"
    assert closed.stat().st_mode & 0o777 == 0
    closed.chmod(0o700)
    assert (closed / "file").stat().st_mode & 0o777 == 0
    (closed / "file").chmod(0o400)
    assert (closed / "file").read_text() == "closed"


@needs_root
async def test_an_archive_is_codehub_s_once_it_is_proven(here: Place, tmp_path: Path) -> None:
    home, there = await home_of(here)
    fill(there)
    archive = errand(tmp_path)
    assert isinstance(archive.place, DirectoryPlace)
    for kind in (Kind.ARCHIVE, Kind.VERIFY):
        assert (await done(here.open(), archive.spec(kind, home))).exit_code == 0
    folder = archive.place.folder
    assert (folder.stat().st_uid, folder.stat().st_gid, folder.stat().st_mode & 0o777) == (0, READERS, 0o750)
    for file in folder.iterdir():
        assert (file.stat().st_uid, file.stat().st_gid, file.stat().st_mode & 0o777) == (0, READERS, 0o640)


async def test_when_its_shim_is_killed_all_of_it_is_gone_and_it_was_killed(here: Place, store: SilentStore) -> None:
    spec, pid = await waiting(here, store, Kind.RESTORE)
    life = record(here, spec).life
    assert life is not None
    everything = [Process.of(each) for each in descendants(life.shim.pid)]
    assert pid in {each.pid for each in everything}
    life.shim.send(signal.SIGKILL)
    assert (await ended(here.open(), spec.name)).exit_code == 137
    assert not [each for each in everything if each.alive()]
    await store.is_left_alone()


async def test_nothing_of_it_is_left_after_its_removal(here: Place, store: SilentStore) -> None:
    spec, _ = await waiting(here, store, Kind.ARCHIVE)
    await here.open().jobs.remove(spec.name)
    assert list((here.data / "local/jobs").iterdir()) == []
    groups = limits.Group(spec.name, limits.PARENT_OF_JOBS)._folders()
    assert not any(folder.exists() for folder in groups)


@pytest.fixture
def without_setpriv(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with tempfile.TemporaryDirectory(prefix="codehub-") as folder:
        Path(folder).chmod(0o755)
        for name in ("sh", "mkdir", "mount", "unshare", "prlimit", "bwrap"):
            (Path(folder) / name).symlink_to(str(shutil.which(name)))
        monkeypatch.setattr("codehub.runtimes.local.shims.SYSTEM_PATH", folder)
        yield


@pytest.mark.usefixtures("without_setpriv")
async def test_one_that_could_not_be_started_can_be_tried_again_and_says_why(here: Place, tmp_path: Path) -> None:
    home, _ = await home_of(here)
    spec = errand(tmp_path).spec(Kind.ARCHIVE, home)
    job = await done(here.open(), spec)
    assert job.exit_code == 75
    (line,) = [line async for line in here.open().jobs.follow(spec.name)]
    assert json.loads(line)["fault"] == "try_again"
    assert "setpriv" in json.loads(line)["message"]


async def test_a_job_needs_its_store_s_folder(here: Place, tmp_path: Path) -> None:
    home, _ = await home_of(here)
    spec = Errand(DirectoryPlace(tmp_path / "nowhere")).spec(Kind.ARCHIVE, home)
    if IS_ROOT:
        with pytest.raises(RuntimeFault):
            await here.open().jobs.run(spec)
    else:
        assert (await done(here.open(), spec)).exit_code != 0
    assert not (tmp_path / "nowhere").exists()


def record(here: Place, spec: JobSpec) -> JobRecord:
    found = JobRecord.read(here.data / "local/jobs" / spec.name)
    assert found is not None
    return found
