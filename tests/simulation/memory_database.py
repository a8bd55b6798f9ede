"""A database in memory, for the simulation only: rows, history and locks, and the time that the simulation gives it.

What it holds is what PostgreSQL would hold: the suites `tests/contracts/test_store_*.py` run on both. Each change is
one step that nothing interrupts, as a statement is one transaction there."""

import asyncio
from collections.abc import Callable, Sequence
from contextvars import Context
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from codehub.decide.orphans import Found, OrphanKind
from codehub.model.states import Desired, Operation, Phase, Step
from codehub.model.templates import Template
from codehub.model.workspace import Request, Workspace, archive_key
from codehub.store.history import Event, EventKind, request_event
from codehub.store.protocols import Listing, NewArchive, Notice
from tests.simulation.memory_triggers import Touched, is_revision, notified
from tests.simulation.rows import changed


class Refused(Exception):
    """A row that the constraints of the schema would refuse."""


@dataclass(frozen=True, slots=True)
class Told:
    workspace_id: UUID
    at: datetime
    event: Event


@dataclass(frozen=True, slots=True)
class MemoryArchive:
    workspace_id: UUID
    generation: int
    op_id: UUID | None
    made_at: datetime
    found: NewArchive


@dataclass(frozen=True, slots=True)
class Office:
    """A row of `system_locks`."""

    holder_id: str
    epoch: int
    acquired_at: datetime
    released: bool = False


def is_settled(row: Workspace) -> bool:
    """The generated column `settled`."""
    at_its_wish = row.phase.value == row.desired_state.value
    at_rest_in_error = row.phase is Phase.ERROR and row.error_reason is not None and row.deleted_at is None
    judged = row.observed_at is None or (row.judged_at is not None and row.judged_at >= row.observed_at)
    return row.operation is Operation.NONE and row.request is None and (at_its_wish or at_rest_in_error) and judged


_ARCHIVE_STORED = (Step.VERIFIED, Step.RELEASE, Step.RELEASED, Step.UPLOADED)


def _has_its_ground(row: Workspace) -> bool:
    match row.operation:
        case Operation.PROVISIONING:
            return row.op_volume is not None and row.archive_key is None
        case Operation.RESTORING:
            return row.op_volume is not None and row.archive_key is not None
        case Operation.STARTING:
            return row.home_volume is not None
        case Operation.ARCHIVING:
            return row.current_volume is not None
        case Operation.CREATE_EMPTY_ARCHIVE:
            return row.home_volume is None
        case _:
            return True


def broken_constraint(row: Workspace) -> str | None:
    """The first constraint of the table that the row breaks."""
    constraints = {
        "deleted_is_wished": (row.desired_state is Desired.DELETED) == (row.deleted_at is not None),
        "one_volume_at_a_time": row.home_volume is None or row.op_volume is None,
        "operation_is_whole": row.op_step is None
        if row.operation is Operation.NONE
        else None not in (row.op_step, row.op_id, row.op_clock_at),
        "operation_has_its_ground": _has_its_ground(row),
        "home_is_let_go": row.op_step not in (Step.RELEASE, Step.RELEASED) or row.home_volume is None,
        "stored_archive_is_named": row.op_step not in _ARCHIVE_STORED
        or (row.archive_op_id is not None and row.archive_key == archive_key(row.id, row.archive_op_id)),
        "error_has_no_operation": row.phase is not Phase.ERROR or row.operation is Operation.NONE,
    }
    return next((name for name, kept in constraints.items() if not kept), None)


def _place(row: Workspace) -> tuple[bool, UUID]:
    """Those that people wait for first."""
    return row.desired_state is not Desired.RUNNING, row.id


@dataclass(slots=True)
class MemoryDatabase:
    clock: Callable[[], datetime]
    rows: dict[UUID, Workspace] = field(default_factory=dict)
    templates: dict[UUID, Template] = field(default_factory=dict)
    history: list[Told] = field(default_factory=list)
    archives: dict[str, MemoryArchive] = field(default_factory=dict)
    orphans: dict[tuple[OrphanKind, str], tuple[Found, datetime]] = field(default_factory=dict)
    listings: dict[str, Listing] = field(default_factory=dict)
    offices: dict[str, Office] = field(default_factory=dict)
    touched: dict[UUID, Touched] = field(default_factory=dict)
    listeners: dict[object, Callable[[Notice], None]] = field(default_factory=dict)
    """Who hears of changes, by the session that listens."""

    def unsettled(self, after: Workspace | None, limit: int) -> Sequence[Workspace]:
        waiting = [row for row in self.rows.values() if not is_settled(row)]
        beyond = [row for row in waiting if after is None or _place(row) > _place(after)]
        return sorted(beyond, key=_place)[:limit]

    def write(self, *rows: Workspace) -> None:
        """All of them or, where one is refused, none."""
        for row in rows:
            broken = broken_constraint(row)
            if broken is not None:
                raise Refused(broken)
        for row in rows:
            self._touch(row)
            self.rows[row.id] = row

    def _touch(self, row: Workspace) -> None:
        before, touched = self.rows.get(row.id), self.touched.get(row.id, Touched("", None, 0, self.clock()))
        moved = before is None or is_revision(before, row)
        self.touched[row.id] = changed(touched, revision=touched.revision + moved, updated_at=self.clock())
        for channel in notified(before, row):
            for hear in self.listeners.values():
                notice = Notice(channel, row.id, row.owner_user_id)
                asyncio.get_running_loop().call_soon(hear, notice, context=Context())  # told by nobody's process

    def tell(self, workspace_id: UUID, story: Sequence[Event]) -> None:
        self.history.extend(Told(workspace_id, self.clock(), event) for event in story)

    def record_archive(self, row: Workspace, archive: NewArchive) -> None:
        before = self.archives.get(archive.key)
        if before is not None:
            self.archives[archive.key] = changed(before, found=changed(archive, id=before.found.id))
            return
        newest = max((each.generation for each in self.archives.values() if each.workspace_id == row.id), default=0)
        self.archives[archive.key] = MemoryArchive(row.id, newest + 1, row.op_id, self.clock(), archive)

    # What the API writes: the twins of store/wishes.py.

    def create_workspace(
        self, workspace_id: UUID, owner_user_id: UUID, name: str, desired: Desired, reason: str, by: str | None = None
    ) -> Workspace:
        now = self.clock()
        self.write(Workspace(workspace_id, owner_user_id, name, now, desired, phase_changed_at=now))
        self._because(workspace_id, reason, by)
        self.tell(workspace_id, [Event(EventKind.CREATED, after=desired, reason=reason, actor=by)])
        return self.rows[workspace_id]

    def wish(self, workspace: Workspace, desired: Desired, reason: str, by: str | None = None) -> Workspace | None:
        row = self.rows[workspace.id]
        if row.deleted_at is not None:
            return None
        if row.desired_state is desired:
            return row
        deleted_at = self.clock() if desired is Desired.DELETED else None
        self.write(changed(row, desired_state=desired, deleted_at=deleted_at))
        self._because(row.id, reason, by)
        self.tell(row.id, [Event(EventKind.WISH, workspace.desired_state, desired, reason, by)])
        return self.rows[row.id]

    def _because(self, workspace_id: UUID, reason: str, by: str | None) -> None:
        self.touched[workspace_id] = changed(self.touched[workspace_id], desired_reason=reason, desired_by=by)

    def place_request(self, workspace: Workspace, request: Request) -> Workspace | None:
        row = self.rows[workspace.id]
        if row.deleted_at is not None or row.request is not None:
            return None
        self.write(changed(row, request=request))
        self.tell(row.id, [request_event(request, "asked")])
        return self.rows[row.id]
