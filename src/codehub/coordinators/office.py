"""A WorkspaceController's time in office: its store, the acts in flight and what has become of them."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

import structlog

from codehub.coordinators.actions import Actions, Made
from codehub.coordinators.database_clock import DatabaseClock
from codehub.coordinators.job_runner import KINDS
from codehub.coordinators.leadership import Deposed, Leadership
from codehub.coordinators.refusals import Refusals
from codehub.coordinators.services import Services
from codehub.decide.plan import Acting
from codehub.model.plans import Fault
from codehub.model.states import Step
from codehub.model.templates import Template
from codehub.model.workspace import Workspace
from codehub.runtimes.errors import RuntimeFault
from codehub.store.protocols import ControllerStore

log = structlog.get_logger()


LATE = timedelta(seconds=1)
"""An act that begins so much later than its attempt has had to wait."""


@dataclass(frozen=True)
class Acted:
    """What became of one act, for the loop to record: acts run beside it and never touch its connection."""

    workspace: Workspace
    step: Step
    fault: Fault | None
    made: Made | None = None


@dataclass(frozen=True)
class ThinnedOut:
    """The surplus containers of a workspace that were taken away."""

    workspace: Workspace
    container_ids: tuple[str, ...]


@dataclass
class Office:
    """One term: the store on the leader's connection, and the acts in flight, owned by its task group."""

    store: ControllerStore
    leadership: Leadership
    actions: Actions
    services: Services
    group: asyncio.TaskGroup
    clock: DatabaseClock
    refusals: Refusals
    acting: dict[UUID, asyncio.Task[None]] = field(default_factory=dict)
    """Until the outcome is recorded: a row that was read before is not acted upon once more."""
    queued: set[UUID] = field(default_factory=set)
    """Of these, those that wait for their turn, or have just had it later than their rows say."""
    late: list[Workspace] = field(default_factory=list)
    """Acts that have begun, but whose clocks began before: for the loop to record."""
    outcomes: list[Acted | ThinnedOut] = field(default_factory=list)
    failed_removals: Counter[UUID] = field(default_factory=Counter)
    templates: dict[UUID, Template] = field(default_factory=dict)

    def template_of(self, workspace: Workspace) -> Template | None:
        return self.templates.get(workspace.template_id) if workspace.template_id is not None else None

    def image_of(self, workspace: Workspace) -> str | None:
        template = self.template_of(workspace)
        return template.image if template is not None else None

    def acting_on(self, workspace: Workspace) -> Acting:
        if workspace.id not in self.acting:
            return Acting.NOT
        return Acting.QUEUED if workspace.id in self.queued else Acting.BUSY

    def has_its_turn(self, workspace: Workspace) -> bool:
        """An act begins. Whether in time: if not, its clock begins anew, and stands still until that is stored."""
        in_time = workspace.op_clock_at is None or self.clock.now() - workspace.op_clock_at < LATE
        if in_time:
            self.queued.discard(workspace.id)
        else:
            self.late.append(workspace)
        return in_time

    async def record_late(self) -> None:
        """Store when the acts that had to wait have begun."""
        late, self.late = self.late, []
        if late:
            await self.store.begun(late)
            self.queued.difference_update(each.id for each in late)

    def forget(self, workspace: Workspace) -> None:
        self.acting.pop(workspace.id, None)
        self.queued.discard(workspace.id)

    async def cancel(self, workspace: Workspace) -> None:
        """End the act in flight and forget its outcome: the row goes on without it."""
        task = self.acting.get(workspace.id)
        self.forget(workspace)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        self.outcomes = [each for each in self.outcomes if each.workspace.id != workspace.id]

    def dismiss_jobs(self, workspace: Workspace) -> None:
        """What became of this attempt is recorded: its jobs end, beside the passes, and are forgotten. What fails of
        that, the next act on the workspace or the collector does."""
        if workspace.operation in KINDS:
            self.group.create_task(self._dismissing(workspace), name=f"dismiss jobs {workspace.id}")

    async def _dismissing(self, workspace: Workspace) -> None:
        try:
            await self.actions.archives.runner.remove_of(workspace)
        except Deposed:
            return
        except RuntimeFault as error:
            log.warning("jobs stay", workspace_id=str(workspace.id), error=repr(error))
