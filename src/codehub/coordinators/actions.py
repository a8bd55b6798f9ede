"""What each step does to the outside world. Every act is idempotent, and names what it touches by incarnation."""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass
from uuid import UUID

from codehub.archives.errors import StoreError, StoreUnreachable
from codehub.coordinators.archive_acts import ArchiveActs, ArchiveUnsound
from codehub.coordinators.backup_watch import BackupWatch
from codehub.coordinators.leadership import Leadership
from codehub.decide.origins import Origins
from codehub.job.marker import Totals
from codehub.model import inside
from codehub.model.plans import Fault
from codehub.model.states import ErrorReason, Service, Step
from codehub.model.templates import Template
from codehub.model.workspace import Workspace, incarnation_name
from codehub.runtimes.errors import ImageUnavailable, InUse, NotFound, RegistryAway, RuntimeAway, RuntimeFault
from codehub.runtimes.protocols import InstanceSpec, InstanceState, PullProgress, Resources, Runtime, VolumeSpec
from codehub.store.protocols import NewArchive

STOP_GRACE_SECONDS = 10.0
"""How long an IDE may take to write its files."""

DESTRUCTIVE = frozenset({Step.STOP, Step.RELEASE, Step.DELETE})
"""Acts that wait until a predecessor that did not leave in order can no longer be acting."""


Made = Totals | NewArchive
"""What an act leaves to be stored with its step: what was sent to the store, or what was found there."""


@dataclass
class Actions:
    runtime: Runtime
    leadership: Leadership
    archives: ArchiveActs
    backups: BackupWatch
    on_pull: Callable[[Workspace, PullProgress], None]
    origins: Origins | None = None
    """Where workspaces are opened: an IDE that keeps its path has to know it."""
    inside_key: bytes | None = None
    """What makes the tokens by which workspaces keep themselves awake; None where nobody would listen to them."""

    async def act(
        self, workspace: Workspace, step: Step, template: Template | None, known: NewArchive | None = None
    ) -> Made | None:
        """Do one step. Returns when the runtime has done it; whether it had its effect is for the Observer to see.
        `known` is what was found when the archive that is to be restored was read back."""
        self.leadership.check()
        match step:
            case Step.CREATE:
                await self._create(workspace, template)
            case Step.PULL:
                await self.runtime.instances.pull(
                    _needed(template).image, lambda progress: self.on_pull(workspace, progress)
                )
            case Step.START:
                await self._start(workspace, _needed(template))
            case Step.STOP:
                await self._stop_all(workspace)
            case Step.RELEASE | Step.DELETE:
                # Let go of, a home is in its archive alone: a database that does not know it must be found out.
                await self.backups.require(self.leadership.check, covered=step is Step.RELEASE)
                await self._delete(workspace)
            case Step.ARCHIVE:
                return await self.archives.archive(workspace)
            case Step.VERIFY:
                return await self.archives.verify(workspace)
            case Step.UPLOAD:
                return await self.archives.upload(workspace)
            case Step.RESTORE:
                await self.archives.restore(workspace, known, _resources(workspace, template).disk_bytes)
            case _:
                raise RuntimeFault(f"'{step}' is no act")
        return None

    async def _create(self, workspace: Workspace, template: Template | None) -> None:
        assert workspace.op_volume is not None and workspace.op_id is not None  # noqa: S101, PT018 (named by the claim)
        size = _resources(workspace, template).disk_bytes
        await self.runtime.volumes.create(
            VolumeSpec(workspace.op_volume, workspace.id, workspace.op_id, self.leadership.term.epoch, size)
        )

    async def _start(self, workspace: Workspace, template: Template) -> None:
        """Replace what is left of earlier lives, then start. At most one container per workspace (contract 6)."""
        assert workspace.home_volume is not None and workspace.op_id is not None  # noqa: S101, PT018 (seen by the plan)
        name = incarnation_name(workspace.id, workspace.op_id, workspace.op_attempt)
        await self.archives.runner.remove_all(workspace.id)  # of what was withdrawn: it holds the home, and the disk
        for instance in await self.runtime.instances.list(workspace.id):
            if instance.name != name:
                await asyncio.sleep(self.leadership.destructive_acts_wait())
                self.leadership.check()
                await self.runtime.instances.stop(instance.id, STOP_GRACE_SECONDS)
        self.leadership.check()
        await self.runtime.instances.start(
            InstanceSpec(
                name=name,
                workspace_id=workspace.id,
                op_id=workspace.op_id,
                epoch=self.leadership.term.epoch,
                volume=workspace.home_volume,
                image=template.image,
                port=template.port,
                health_path=("" if template.strip_prefix else self._mount(workspace)) + template.health_path,
                environment={**template.environment, **self._told(workspace, workspace.op_id)},
                resources=_resources(workspace, template),
                begin=inside.BEGIN if workspace.git_url is not None else None,
            )
        )

    def _mount(self, workspace: Workspace) -> str:
        """The path below which browsers find it."""
        return self.origins.mount(workspace.id) if self.origins is not None else ""

    def _told(self, workspace: Workspace, op_id: UUID) -> dict[str, str]:
        """Where it is, what it begins with, and how it can speak for itself."""
        path = self._mount(workspace)
        told = {"CODEHUB_BASE_PATH": f"{path}/"} if path else {}
        if workspace.git_url is not None:
            told[inside.REPOSITORY] = workspace.git_url
        return told | (inside.told_inside(self.inside_key, workspace.id, op_id) if self.inside_key is not None else {})

    async def _stop_all(self, workspace: Workspace) -> None:
        for instance in await self.runtime.instances.list(workspace.id):
            self.leadership.check()
            await self.runtime.instances.stop(instance.id, STOP_GRACE_SECONDS)

    async def thin_out(self, workspace: Workspace, surplus: Collection[str]) -> tuple[str, ...]:
        """Remove these containers, by id, and tell which. Only while another of the workspace's own is alive: what was
        seen to serve it may have ended since."""
        there = await self.runtime.instances.list(workspace.id)
        if all(each.id in surplus or each.state is InstanceState.EXITED for each in there):
            return ()
        removed = tuple(each.id for each in there if each.id in surplus)
        for instance_id in removed:
            self.leadership.check()
            await self.runtime.instances.stop(instance_id, STOP_GRACE_SECONDS)
        return removed

    async def _delete(self, workspace: Workspace) -> None:
        """Delete the volume. The container was seen gone before (contract 8), and the engine refuses one in use, by a
        job that has ended as well."""
        await self.archives.runner.remove_all(workspace.id)
        if workspace.current_volume is not None:
            self.leadership.check()
            await self.runtime.volumes.delete(workspace.current_volume)


class TemplateMissing(RuntimeFault):
    """The workspace names a template that is not there."""


def _needed(template: Template | None) -> Template:
    if template is None:
        raise TemplateMissing("its template is gone: choose another")
    return template


def _resources(workspace: Workspace, template: Template | None) -> Resources:
    given = {**(template.resources if template is not None else {}), **workspace.resources}
    standard = Resources()
    return Resources(
        memory_bytes=int(given.get("memory_bytes", standard.memory_bytes)),
        cpus=float(given.get("cpus", standard.cpus)),
        pids=int(given.get("pids", standard.pids)),
        disk_bytes=int(given["disk_bytes"]) if "disk_bytes" in given else None,
    )


def to_fault(error: RuntimeFault | StoreError, away: Service | None) -> Fault:
    """An error in the words that a decision is made from; `away` is the service that a ping found away."""
    detail = str(error) or type(error).__name__
    if away is not None:
        return Fault(ErrorReason.UNREACHABLE, detail, away)
    match error:
        case ImageUnavailable():
            return Fault(ErrorReason.IMAGE_PULL_FAILED, detail)
        case ArchiveUnsound():
            return Fault(ErrorReason.ARCHIVE_CORRUPTED, detail)
        case RegistryAway() | RuntimeAway() | StoreUnreachable():
            return Fault(ErrorReason.UNREACHABLE, detail)
        case InUse() | NotFound() | _:
            return Fault(ErrorReason.ACTION_FAILED, detail)
