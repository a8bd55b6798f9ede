"""A WorkspaceController's time in office: its store, the acts in flight and what has become of them."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import UUID

import structlog

from codehub.coordinators.actions import Actions
from codehub.coordinators.leadership import Deposed, Leadership
from codehub.coordinators.services import Services
from codehub.model.plans import Fault
from codehub.model.states import Step
from codehub.model.templates import Template
from codehub.model.workspace import Workspace
from codehub.store.protocols import ControllerStore, SeatLost

log = structlog.get_logger()


@dataclass(frozen=True)
class Acted:
    """What became of one act, for the loop to record: acts run beside it and never touch its connection."""

    workspace: Workspace
    step: Step
    fault: Fault | None


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
    acting: dict[UUID, asyncio.Task[None]] = field(default_factory=dict)
    """Until the outcome is recorded: a row that was read before is not acted upon once more."""
    outcomes: list[Acted | ThinnedOut] = field(default_factory=list)
    failed_removals: Counter[UUID] = field(default_factory=Counter)
    templates: dict[UUID, Template] = field(default_factory=dict)

    def template_of(self, workspace: Workspace) -> Template | None:
        return self.templates.get(workspace.template_id) if workspace.template_id is not None else None

    def image_of(self, workspace: Workspace) -> str | None:
        template = self.template_of(workspace)
        return template.image if template is not None else None

    async def cancel(self, workspace: Workspace) -> None:
        """End the act in flight and forget its outcome: the row goes on without it."""
        task = self.acting.pop(workspace.id, None)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        self.outcomes = [each for each in self.outcomes if each.workspace.id != workspace.id]


@contextlib.contextmanager
def bulkhead(workspace: Workspace) -> Iterator[None]:
    """One row that cannot be handled, or is locked by somebody, keeps no other from its turn; the next pass sees it
    again. A seat that is lost is everybody's trouble."""
    try:
        yield
    except (Deposed, SeatLost):
        raise
    except Exception:
        log.exception("workspace left for the next pass", workspace_id=str(workspace.id))
