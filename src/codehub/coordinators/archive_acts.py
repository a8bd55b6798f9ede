"""The acts that move homes: into an archive, and back. Jobs do the work beside the volume; here it is ordered."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from uuid import UUID, uuid4

from codehub.archives.empty import upload_empty
from codehub.archives.object_store import Loan, ObjectStore, read_all
from codehub.coordinators.job_runner import JobFailed, JobRunner, job_name
from codehub.coordinators.leadership import Leadership
from codehub.job.faults import Corrupt, ExitCode
from codehub.job.marker import MARKER_BYTES, MARKER_SUFFIX, Totals, parse_marker, parse_totals
from codehub.job.order import Kind, Limits, Order, Proof
from codehub.model.workspace import Workspace, archive_key, incarnation_name
from codehub.runtimes.errors import RuntimeFault
from codehub.runtimes.protocols import JobSpec, Runtime, VolumeSpec
from codehub.store.protocols import NewArchive

DISTRIBUTION = "codehub-server"
HERE = Path("/")
"""Where the home is, the runtime knows: it puts that into the order."""


class ArchiveUnsound(RuntimeFault):
    """An archive is not what it was when it was read back. It is kept as it is; no further attempt mends it."""


@dataclass(frozen=True, slots=True)
class ArchiveTerms:
    """How archives are made and proven."""

    level: int
    proof: Proof
    lent_seconds: int
    """For how long a job may reach its archive: longer than any attempt lasts."""
    socket: str | None = None


@dataclass
class ArchiveActs:
    runtime: Runtime
    store: ObjectStore
    runner: JobRunner
    leadership: Leadership
    terms: ArchiveTerms
    now: Callable[[], datetime]

    async def archive(self, workspace: Workspace) -> Totals:
        """Send the home to its key. What was sent is to be stored before anybody asks what arrived."""
        volume, key = _home(workspace), _own_key(workspace)

        async def order(_: bool) -> JobSpec:
            size = await self.runtime.volumes.usage(volume)
            return await self._spec(workspace, Kind.ARCHIVE, volume, key, home_bytes=size)

        return await self.runner.carry_out(workspace, Kind.ARCHIVE, order)

    async def verify(self, workspace: Workspace) -> NewArchive:
        """Read the archive back and hold it against what was sent (contract 8)."""
        volume, key = _home(workspace), _own_key(workspace)
        if workspace.sent is None:
            raise RuntimeFault("nobody knows what was sent: the archive cannot be held against anything")
        sent = parse_totals(dict(workspace.sent))

        async def order(_: bool) -> JobSpec:
            return await self._spec(workspace, Kind.VERIFY, volume, key, expected=sent)

        return _new_archive(key, await self.runner.carry_out(workspace, Kind.VERIFY, order))

    async def restore(self, workspace: Workspace, known: NewArchive | None, disk_bytes: int | None) -> None:
        """Fill a volume that nobody has used. Half of a home is thrown away, never gone on with (contract 7)."""
        volume, key = workspace.op_volume, workspace.archive_key
        assert volume is not None and key is not None  # noqa: S101, PT018 (named by the claim)

        async def order(again: bool) -> JobSpec:
            declared = await self._declared(key, known)
            await self._throw_away(workspace, volume, again=again)
            await self.runtime.volumes.create(
                VolumeSpec(volume, workspace.id, _op_id(workspace), self.leadership.term.epoch, disk_bytes)
            )
            return await self._spec(workspace, Kind.RESTORE, volume, key, expected=declared)

        try:
            await self.runner.carry_out(workspace, Kind.RESTORE, order)
        except JobFailed as failed:
            if failed.exit_code == ExitCode.CORRUPT:
                raise ArchiveUnsound(str(failed)) from failed
            raise

    async def upload(self, workspace: Workspace) -> NewArchive:
        """The archive of a workspace that never had a home."""
        key = _own_key(workspace)
        self.leadership.check()
        made = await upload_empty(self.store, key, str(workspace.id), _version(), self.now())
        return _new_archive(key, made)

    async def _declared(self, key: str, known: NewArchive | None) -> Totals:
        """What the marker says, as far as it is what was found when the archive was read back."""
        try:
            declared = parse_marker(await read_all(self.store, key + MARKER_SUFFIX, limit=MARKER_BYTES)).totals
        except Corrupt as error:
            raise ArchiveUnsound(str(error)) from error
        if known is not None and _new_archive(key, declared, known.id) != known:
            raise ArchiveUnsound("The archive's marker tells of another archive than the one that was proven.")
        return declared

    async def _throw_away(self, workspace: Workspace, volume: str, *, again: bool) -> None:
        """What earlier attempts have left, and with `again` this one: no home, and never to become one."""
        earlier = range(1, workspace.op_attempt)
        left = [incarnation_name(workspace.id, _op_id(workspace), attempt) for attempt in earlier]
        for name in [*left, volume] if again else left:
            await asyncio.sleep(self.leadership.destructive_acts_wait())
            self.leadership.check()
            await self.runtime.volumes.delete(name)

    async def _spec(
        self,
        workspace: Workspace,
        kind: Kind,
        volume: str,
        key: str,
        *,
        home_bytes: int = 0,
        expected: Totals | None = None,
    ) -> JobSpec:
        self.leadership.check()
        loan = Loan(kind, self.terms.lent_seconds, home_bytes, self.terms.socket)
        order = Order(
            kind=kind,
            key=key,
            workspace_id=key.partition("/")[0],  # a fork's archive is that of the workspace it was made from
            codehub_version=_version(),
            home=HERE,
            place=await self.store.lend(key, loan),
            level=self.terms.level,
            proof=self.terms.proof,
            expected=expected,
            limits=Limits(expected.uncompressed, expected.entries) if expected is not None else Limits(),
        )
        name, epoch = job_name(workspace, kind), self.leadership.term.epoch
        return JobSpec(name, workspace.id, _op_id(workspace), epoch, volume, order)


@cache
def _version() -> str:
    """Looked for on the disk, so only once."""
    return version(DISTRIBUTION)


def _op_id(workspace: Workspace) -> UUID:
    assert workspace.op_id is not None  # noqa: S101 (named by the claim)
    return workspace.op_id


def _home(workspace: Workspace) -> str:
    assert workspace.home_volume is not None  # noqa: S101 (seen by the plan)
    return workspace.home_volume


def _own_key(workspace: Workspace) -> str:
    assert workspace.archive_op_id is not None  # noqa: S101 (named by the claim)
    return archive_key(workspace.id, workspace.archive_op_id)


def _new_archive(key: str, totals: Totals, archive_id: UUID | None = None) -> NewArchive:
    return NewArchive(archive_id or uuid4(), key, totals.size, f"sha256:{totals.sha256}", totals.entries)
