"""A home is sent, proven and brought back by jobs: what each is ordered to do, and what its end is taken for."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from signal import SIGKILL, SIGSTOP
from typing import Any
from uuid import UUID, uuid4

import pytest

from codehub.archives.directory import DirectoryStore
from codehub.archives.errors import ObjectNotFound
from codehub.archives.object_store import Loan
from codehub.clock import elapsed
from codehub.coordinators import job_runner
from codehub.coordinators.archive_acts import ArchiveActs, ArchiveTerms, ArchiveUnsound
from codehub.coordinators.job_runner import JobFailed, JobRunner, job_name
from codehub.coordinators.leadership import Deposed, Leadership
from codehub.job.faults import ExitCode
from codehub.job.marker import MARKER_SUFFIX, Totals, parse_marker
from codehub.job.order import DirectoryPlace, Kind, Limits, Order, Proof
from codehub.job.progress import Stage
from codehub.model.states import Desired, Operation
from codehub.model.workspace import Workspace, archive_key, incarnation_name
from codehub.runtimes.errors import Removed, RuntimeAway, RuntimeFault
from codehub.runtimes.memory import MemoryRuntime
from codehub.runtimes.memory_disk import Trip
from codehub.runtimes.memory_engine import Call, Fault, MemoryEngine
from codehub.runtimes.protocols import JobSpec, VolumeSpec
from codehub.store.protocols import NewArchive, Term
from tests.coordinators.homes import Content, content, furnish
from tests.coordinators.house import until
from tests.simulation.memory_database import MemoryDatabase
from tests.simulation.memory_seat import MemorySeat, MemoryServer

HOUSE = "house"
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
TERMS = ArchiveTerms(level=3, proof=Proof.EXTRACT, lent_seconds=600, socket="/run/way.sock")
VERSION = version("codehub-server")


@dataclass
class Counted(MemoryEngine):
    """Remembers how many jobs it was asked to run."""

    begun: int = 0

    @asynccontextmanager
    async def call(self, call: Call, about: str = "") -> AsyncIterator[None]:
        async with super().call(call, about):
            self.begun += call is Call.RUN_JOB
            yield


class Lending(DirectoryStore):
    """Remembers what it has lent."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.loans: list[tuple[str, Loan]] = []

    async def lend(self, key: str, loan: Loan) -> DirectoryPlace:
        self.loans.append((key, loan))
        return await super().lend(key, loan)


@dataclass
class Desk:
    """A leader's acts, on an engine that is only remembered, with jobs that are not."""

    engine: Counted
    store: Lending
    leadership: Leadership
    heard: list[tuple[UUID, str]] = field(default_factory=list)

    @property
    def runtime(self) -> MemoryRuntime:
        return MemoryRuntime(self.engine, HOUSE, self.leadership.check)

    @property
    def runner(self) -> JobRunner:
        def hear(workspace: Workspace, said: Mapping[str, Any]) -> None:
            self.heard.append((workspace.id, said["stage"]))

        return JobRunner(self.runtime.jobs, self.leadership, hear)

    @property
    def acts(self) -> ArchiveActs:
        return ArchiveActs(self.runtime, self.store, self.runner, self.leadership, TERMS, lambda: NOW)

    async def furnished(self) -> tuple[Workspace, Content]:
        """One that is to be archived, at the second attempt, with something in its home."""
        row = workspace()
        assert row.home_volume is not None
        await self.runtime.volumes.create(VolumeSpec(row.home_volume, row.id, uuid4(), 1, None))
        return row, furnish(self.engine.home(row.home_volume))

    async def archived(self) -> tuple[Workspace, NewArchive, Content]:
        """One that is to be restored, and what is known of its archive."""
        row, before = await self.furnished()
        sent = await self.acts.archive(row)
        known = await self.acts.verify(replace(row, sent=asdict(sent)))
        await self.runner.remove_all(row.id)
        asleep = replace(row, operation=Operation.RESTORING, op_id=uuid4(), archive_key=known.key, home_volume=None)
        return replace(asleep, op_volume=volume_of(asleep)), known, before

    def job(self, row: Workspace, kind: Kind) -> JobSpec:
        return self.engine.disk.jobs[job_name(row, kind)].spec


def workspace() -> Workspace:
    row = Workspace(uuid4(), uuid4(), "garden", NOW, Desired.ARCHIVED)
    named = replace(row, op_id=uuid4(), op_attempt=2, archive_op_id=uuid4(), home_volume=f"home-{row.id}")
    return replace(named, operation=Operation.ARCHIVING)


def volume_of(row: Workspace) -> str:
    assert row.op_id is not None
    return incarnation_name(row.id, row.op_id, row.op_attempt)


def key_of(row: Workspace) -> str:
    assert row.archive_op_id is not None
    return archive_key(row.id, row.archive_op_id)


@asynccontextmanager
async def in_office() -> AsyncIterator[Leadership]:
    seat = MemorySeat(MemoryServer(MemoryDatabase(lambda: NOW)), "coordinator:wc", "tests", 600)
    try:
        yield Leadership(seat, Term(7, predecessor_released=True), 600, elapsed(), elapsed)
    finally:
        await seat.close()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with in_office() as leadership:
        engine = Counted()
        yield Desk(engine, Lending(tmp_path), leadership)
        engine.disk.clear()


def expected_order(row: Workspace, kind: Kind, store: Path, proven: Totals | None = None) -> Order:
    place = DirectoryPlace(store.joinpath(*key_of(row).split("/")[:-1]))
    order = Order(kind, key_of(row), str(row.id), VERSION, Path("/"), place, level=3, proof=Proof.EXTRACT)
    return (
        order if proven is None else replace(order, expected=proven, limits=Limits(proven.uncompressed, proven.entries))
    )


async def test_a_home_is_sent_to_a_key_of_its_own(desk: Desk, tmp_path: Path) -> None:
    row, before = await desk.furnished()
    sent = await desk.acts.archive(row)
    assert parse_marker((tmp_path / (key_of(row) + MARKER_SUFFIX)).read_bytes()).totals == sent
    job = desk.job(row, Kind.ARCHIVE)
    assert job.order == expected_order(row, Kind.ARCHIVE, tmp_path)
    assert (job.name, job.workspace_id, job.op_id, job.epoch, job.volume) == (
        f"{incarnation_name(row.id, row.archive_op_id or row.id, 2)}-archive",
        row.id,
        row.op_id,
        7,
        row.home_volume,
    )
    size = sum(path.stat().st_size for path in desk.engine.home(job.volume).rglob("*") if path.is_file())
    assert desk.store.loans == [(key_of(row), Loan(Kind.ARCHIVE, 600, size, "/run/way.sock"))]
    assert before


async def test_an_archive_is_held_against_what_was_sent(desk: Desk, tmp_path: Path) -> None:
    row, _ = await desk.furnished()
    sent = await desk.acts.archive(row)
    proven = await desk.acts.verify(replace(row, sent=asdict(sent)))
    assert isinstance(proven.id, UUID)
    assert proven == NewArchive(proven.id, key_of(row), sent.size, f"sha256:{sent.sha256}", sent.entries)
    assert desk.job(row, Kind.VERIFY).order == expected_order(row, Kind.VERIFY, tmp_path, sent)
    assert desk.store.loans[-1] == (key_of(row), Loan(Kind.VERIFY, 600, 0, "/run/way.sock"))
    assert list(desk.engine.disk.jobs) == [job_name(row, Kind.VERIFY)], "the job that sent it could still act"
    with pytest.raises(JobFailed, match="other bytes than were sent") as failed:
        await desk.acts.verify(replace(row, op_attempt=3, sent=asdict(replace(sent, entries=1))))
    assert (failed.value.exit_code, failed.value.passes) == (65, False)


async def test_an_archive_of_which_nobody_knows_what_was_sent_is_not_proven(desk: Desk) -> None:
    row, _ = await desk.furnished()
    with pytest.raises(RuntimeFault) as refused:
        await desk.acts.verify(row)
    assert str(refused.value) == "nobody knows what was sent: the archive cannot be held against anything"


async def test_a_home_is_restored_into_a_volume_that_nobody_has_used(desk: Desk, tmp_path: Path) -> None:
    row, known, before = await desk.archived()
    assert row.op_volume is not None
    assert row.op_id is not None
    left = incarnation_name(row.id, row.op_id, 1)
    for name in (left, "another"):
        await desk.runtime.volumes.create(VolumeSpec(name, row.id, row.op_id, 1, None))
    await desk.acts.restore(row, known, 1 << 30)
    assert content(desk.engine.home(row.op_volume)) == before
    made = desk.engine.homes[row.op_volume].spec
    assert made == VolumeSpec(row.op_volume, row.id, row.op_id, 7, 1 << 30)
    assert left not in desk.engine.homes
    assert "another" in desk.engine.homes
    job = desk.job(row, Kind.RESTORE)
    declared = parse_marker((tmp_path / (known.key + MARKER_SUFFIX)).read_bytes()).totals
    assert job.order == expected_order(row, Kind.RESTORE, tmp_path, declared)
    assert (job.name, job.volume) == (f"{row.op_volume}-restore", row.op_volume)
    assert desk.heard[-2:] == [(row.id, "restore"), (row.id, "sync")]


async def test_half_of_a_home_is_thrown_away_and_brought_back_anew(desk: Desk) -> None:
    row, known, before = await desk.archived()
    assert row.op_volume is not None
    desk.engine.trips.append(Trip(Kind.RESTORE, Stage.RESTORE, SIGKILL))
    with pytest.raises(JobFailed) as failed:
        await desk.acts.restore(row, known, None)
    assert (failed.value.exit_code, failed.value.passes) == (137, True)
    assert str(failed.value) == "the restore job ended with code 137"
    (desk.engine.home(row.op_volume) / "half").touch()
    await desk.acts.restore(row, known, None)
    assert content(desk.engine.home(row.op_volume)) == before


async def test_a_restored_home_is_not_restored_again(desk: Desk) -> None:
    row, known, before = await desk.archived()
    assert row.op_volume is not None
    await desk.acts.restore(row, known, None)
    (desk.engine.home(row.op_volume) / "since").touch()
    begun = desk.engine.begun
    await desk.acts.restore(row, known, None)
    assert desk.engine.begun == begun
    assert set(content(desk.engine.home(row.op_volume))) == {*before, "since"}


async def test_a_home_may_come_back_from_the_archive_of_another_workspace(desk: Desk) -> None:
    """A fork's first home is made from the archive of the one that it was forked from."""
    row, known, before = await desk.archived()
    fork = replace(row, id=uuid4())
    fork = replace(fork, op_volume=volume_of(fork))
    await desk.acts.restore(fork, None, None)
    assert content(desk.engine.home(volume_of(fork))) == before
    assert desk.job(fork, Kind.RESTORE).order.workspace_id == str(row.id)
    assert known.key == row.archive_key


async def test_an_archive_that_has_changed_is_unsound(desk: Desk, tmp_path: Path) -> None:
    row, known, _ = await desk.archived()
    archive = tmp_path / known.key
    data = bytearray(archive.read_bytes())
    data[-1] ^= 1
    archive.write_bytes(data)
    with pytest.raises(ArchiveUnsound, match="The archive"):
        await desk.acts.restore(row, known, None)
    assert archive.read_bytes() == data


async def test_a_restore_that_fails_otherwise_tells_nothing_of_its_archive(desk: Desk, tmp_path: Path) -> None:
    row, known, _ = await desk.archived()
    (tmp_path / known.key).unlink()
    with pytest.raises(JobFailed) as failed:
        await desk.acts.restore(row, known, None)
    assert failed.value.exit_code == ExitCode.MISSING


OTHER = "The archive's marker tells of another archive than the one that was proven."


@pytest.mark.parametrize("change", [{"size": 1}, {"checksum": "sha256:0"}, {"entries": 1}], ids=str)
async def test_a_marker_of_another_archive_than_was_proven_is_unsound(desk: Desk, change: dict[str, Any]) -> None:
    row, known, _ = await desk.archived()
    with pytest.raises(ArchiveUnsound) as refused:
        await desk.acts.restore(row, replace(known, **change), None)
    assert str(refused.value) == OTHER
    assert row.op_volume not in desk.engine.homes


async def test_a_marker_that_cannot_be_read_is_unsound_and_one_that_is_not_there_is_missing(
    desk: Desk, tmp_path: Path
) -> None:
    row, known, _ = await desk.archived()
    marker = tmp_path / (known.key + MARKER_SUFFIX)
    marker.write_bytes(b"{}")
    with pytest.raises(ArchiveUnsound, match="cannot be read"):
        await desk.acts.restore(row, known, None)
    marker.unlink()
    with pytest.raises(ObjectNotFound):
        await desk.acts.restore(row, known, None)


async def test_a_workspace_that_never_had_a_home_gets_an_archive_of_nothing(desk: Desk, tmp_path: Path) -> None:
    row = workspace()
    made = await desk.acts.upload(row)
    marker = parse_marker((tmp_path / (key_of(row) + MARKER_SUFFIX)).read_bytes())
    assert (marker.workspace_id, marker.codehub_version, marker.made_at) == (str(row.id), VERSION, NOW.isoformat())
    assert made == NewArchive(made.id, key_of(row), marker.totals.size, f"sha256:{marker.totals.sha256}", 0)


async def test_whoever_leads_no_more_does_nothing(desk: Desk, tmp_path: Path) -> None:
    row, _ = await desk.furnished()
    asleep, known, _ = await desk.archived()
    sent = Totals(1, "a" * 64, 1, 1, 1, "b" * 64)
    before, begun = (names_below(tmp_path), set(desk.engine.homes)), desk.engine.begun
    desk.leadership.lose()
    for act in (
        desk.acts.archive(row),
        desk.acts.verify(replace(row, sent=asdict(sent))),
        desk.acts.restore(asleep, known, None),
        desk.acts.upload(workspace()),
        desk.runner.remove_of(row),
    ):
        with pytest.raises(Deposed):
            await act
    assert (names_below(tmp_path), set(desk.engine.homes)) == before
    assert desk.engine.begun == begun


async def test_what_an_earlier_leader_may_still_use_is_left_until_its_lease_is_over(desk: Desk) -> None:
    row, known, _ = await desk.archived()
    assert row.op_id is not None
    left = incarnation_name(row.id, row.op_id, 1)
    await desk.runtime.volumes.create(VolumeSpec(left, row.id, row.op_id, 1, None))
    now = 100.0
    desk.leadership = Leadership(desk.leadership.seat, Term(8, predecessor_released=False), 3600, now, lambda: now)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(desk.acts.restore(row, known, None), 0.2)
    assert left in desk.engine.homes
    now += 3601
    desk.leadership = Leadership(desk.leadership.seat, Term(9, predecessor_released=True), 3600, now, lambda: now)
    await desk.acts.restore(row, known, None)
    assert left not in desk.engine.homes


def names_below(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


# Jobs that others have begun


async def held(desk: Desk, row: Workspace, kind: Kind) -> None:
    async def stopped() -> bool | None:
        job = desk.engine.disk.jobs.get(job_name(row, kind))
        return True if job is not None and job.is_held else None

    await until(stopped, 60)


async def test_the_next_leader_goes_on_with_a_job_that_runs(desk: Desk) -> None:
    row, _ = await desk.furnished()
    desk.engine.trips.append(Trip(Kind.ARCHIVE, Stage.COMMIT, SIGSTOP))
    first = asyncio.create_task(desk.acts.archive(row))
    await held(desk, row, Kind.ARCHIVE)
    first.cancel()
    await asyncio.wait([first])
    second = asyncio.create_task(desk.acts.archive(row))
    desk.engine.release_jobs(row.id)
    assert (await second).entries == 4
    assert desk.engine.begun == 1


async def test_the_result_of_a_job_that_has_ended_is_taken(desk: Desk) -> None:
    row, _ = await desk.furnished()
    sent = await desk.acts.archive(row)
    assert await desk.acts.archive(row) == sent
    assert desk.engine.begun == 1


async def test_no_other_job_of_the_workspace_stays_beside_it(desk: Desk) -> None:
    row, _ = await desk.furnished()
    other, _ = await desk.furnished()
    await desk.acts.archive(row)
    await desk.acts.archive(other)
    later = replace(row, op_attempt=3)
    await desk.acts.archive(later)
    assert set(desk.engine.disk.jobs) == {job_name(later, Kind.ARCHIVE), job_name(other, Kind.ARCHIVE)}
    await desk.runner.remove_all(row.id)
    assert set(desk.engine.disk.jobs) == {job_name(other, Kind.ARCHIVE)}


async def test_a_lasting_fault_is_not_tried_again_with_the_same_order(desk: Desk) -> None:
    row, _ = await desk.furnished()
    assert row.home_volume is not None
    sent = replace(await desk.acts.archive(row), entries=1)
    for _ in range(2):
        with pytest.raises(JobFailed):
            await desk.acts.verify(replace(row, sent=asdict(sent)))
    assert desk.engine.begun == 2


async def test_a_job_that_failed_without_a_word_is_told_by_its_code(desk: Desk) -> None:
    row, _ = await desk.furnished()
    sent = replace(await desk.acts.archive(row), entries=1)
    for expected in ("other bytes than were sent", "^the verify job ended with code 65$"):
        with pytest.raises(JobFailed, match=expected):
            await desk.acts.verify(replace(row, sent=asdict(sent)))
        desk.engine.disk.jobs[job_name(row, Kind.VERIFY)].log.write_bytes(b"")


async def test_a_stream_that_breaks_is_followed_again_and_not_for_ever(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_runner, "FOLLOW_AGAIN_SECONDS", 0.01)
    row, _ = await desk.furnished()
    desk.engine.lay(Call.FOLLOW_JOB, Fault(RuntimeAway("gone"), times=3))
    await desk.acts.archive(row)
    desk.engine.lay(Call.FOLLOW_JOB, Fault(RuntimeAway("gone"), times=4))
    with pytest.raises(RuntimeAway, match="gone"):
        await desk.acts.archive(row)
    assert desk.engine.begun == 1


async def test_a_job_that_somebody_removes_has_told_nothing(desk: Desk) -> None:
    row, _ = await desk.furnished()
    desk.engine.trips.append(Trip(Kind.ARCHIVE, Stage.COMMIT, SIGSTOP))
    task = asyncio.create_task(desk.acts.archive(row))
    await held(desk, row, Kind.ARCHIVE)
    desk.engine.lose_jobs(row.id)
    with pytest.raises(Removed) as removed:
        await task
    name = job_name(row, Kind.ARCHIVE)
    assert str(removed.value) == f"the job {name} was removed before it was known what became of it"


async def test_the_jobs_of_an_attempt_are_removed_by_their_names(desk: Desk) -> None:
    row, _ = await desk.furnished()
    await desk.acts.archive(row)
    await desk.runner.remove_of(replace(row, operation=Operation.STARTING))
    await desk.runner.remove_of(replace(row, op_attempt=3))
    assert list(desk.engine.disk.jobs) == [job_name(row, Kind.ARCHIVE)]
    await desk.runner.remove_of(row)
    assert not desk.engine.disk.jobs
    asleep, known, _ = await desk.archived()
    await desk.acts.restore(asleep, known, None)
    await desk.runner.remove_of(asleep)
    assert not desk.engine.disk.jobs


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"5", b"[]", b'"result"', b'{"result": {}}', b'{"result": "' + b"x" * (64 << 10) + b'"}'],
    ids=len,
)
async def test_a_job_that_ends_well_without_its_result_has_failed(desk: Desk, line: bytes) -> None:
    row, _ = await desk.furnished()
    await desk.acts.archive(row)
    desk.engine.disk.jobs[job_name(row, Kind.ARCHIVE)].log.write_bytes(line + b"\n")
    with pytest.raises(JobFailed) as failed:
        await desk.acts.archive(row)
    assert str(failed.value) == "the archive job ended well without saying what it did"
    assert (failed.value.exit_code, failed.value.passes) == (1, False)


async def test_a_line_that_was_cut_off_hides_nothing_that_was_said_before(desk: Desk) -> None:
    row, _ = await desk.furnished()
    sent = await desk.acts.archive(row)
    with desk.engine.disk.jobs[job_name(row, Kind.ARCHIVE)].log.open("ab") as log:
        log.write(b'{"stage": "com')
    assert await desk.acts.archive(row) == sent
