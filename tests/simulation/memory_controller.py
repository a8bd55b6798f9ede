"""The twin of what the WorkspaceController writes: the same guards, the same values, the same history."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from codehub.decide.order import TICK
from codehub.decide.steps import AFTER_ACTION
from codehub.model.plans import Answer, Begin, Died, Dismiss, Finish, GiveUp, Retry, Withdraw
from codehub.model.states import Desired, Operation, Phase, Step
from codehub.model.templates import Template
from codehub.model.workspace import Request, RequestKind, Workspace, attempted_archive, incarnation_name
from codehub.store.history import Event, EventKind, operation_event, phase_event, request_event, surplus_event
from codehub.store.protocols import Judged, NewArchive
from tests.simulation.memory_seat import MemorySeat
from tests.simulation.rows import changed

Guard = Callable[[Workspace], bool]
Change = Callable[[Workspace, datetime], dict[str, Any]]
"""What the row gets, from what it is and the time in the database."""

NO_ERROR: dict[str, Any] = {"error_reason": None, "error_count": 0, "next_attempt_at": None}
AT_REST: dict[str, Any] = {"operation": Operation.NONE, "op_step": None, "op_attempt": 0, "op_clock_at": None}


class MemoryController:
    def __init__(self, seat: MemorySeat) -> None:
        self._seat = seat

    async def unsettled(self, after: Workspace | None, limit: int) -> Sequence[Workspace]:
        async with self._seat.transaction() as database:
            return database.unsettled(after, limit)

    async def workspace(self, workspace_id: UUID) -> Workspace | None:
        async with self._seat.transaction() as database:
            return database.rows.get(workspace_id)

    async def templates(self) -> dict[UUID, Template]:
        async with self._seat.transaction() as database:
            return dict(database.templates)

    async def engine(self, kind: str) -> str | None:
        async with self._seat.transaction() as database:
            listing = database.listings.get(kind)
            return listing.engine if listing is not None else None

    async def judged(self, batch: Sequence[Judged]) -> int:
        async with self._seat.transaction() as database:
            known = [(database.rows[each.workspace.id], each) for each in batch if each.workspace.id in database.rows]
            same = [(row, each) for row, each in known if _identity(row) == _identity(each.workspace)]
            now = database.clock()
            database.write(
                *(
                    changed(
                        row,
                        phase=each.phase,
                        phase_changed_at=row.phase_changed_at if each.phase is row.phase else now,
                        next_attempt_at=None if _serves(row, each.phase) else row.next_attempt_at,
                        judged_at=each.judged_at,
                    )
                    for row, each in same
                )
            )
            for row, each in same:
                database.tell(row.id, phase_event(row.phase, each.phase))
            return len(same)

    async def claim(self, workspace: Workspace, begin: Begin, op_id: UUID, phase: Phase) -> Workspace | None:
        operation = begin.operation
        named: dict[str, Any] = {}
        if operation in (Operation.PROVISIONING, Operation.RESTORING):
            named |= {"op_volume": incarnation_name(workspace.id, op_id, 1), "restore_marker": None}
        if operation in (Operation.ARCHIVING, Operation.CREATE_EMPTY_ARCHIVE):
            named |= {"archive_op_id": attempted_archive(op_id, 1), "sent": None}
        story = operation_event(workspace.operation, operation)
        guards: list[Guard] = [lambda row: row.desired_state is workspace.desired_state]
        if begin.consumes is not None:
            named |= {**NO_ERROR, "request": None}
            story = [request_event(begin.consumes, "granted"), *story]
            guards.append(_asks(begin.consumes))
        return await self._transition(
            workspace,
            lambda _, now: {
                "operation": operation,
                "op_id": op_id,
                "op_started_at": now,
                "op_clock_at": now,
                "op_step": begin.step,
                "op_attempt": 1,
                "next_attempt_at": None,
                **named,
            },
            story,
            phase,
            *guards,
        )

    async def enter(self, workspace: Workspace, step: Step) -> Workspace | None:
        if step is not Step.RELEASE:
            return await self._transition(workspace, lambda *_: {"op_step": step}, [])
        return await self._transition(
            workspace,
            lambda row, _: {"op_step": step, "op_volume": row.home_volume, "home_volume": None},
            [],
            None,
            _may_release,
        )

    async def begun(self, workspaces: Sequence[Workspace]) -> None:
        async with self._seat.transaction() as database:
            known = [(database.rows.get(each.id), each) for each in workspaces]
            same = [row for row, each in known if row is not None and _attempt(row) == _attempt(each)]
            database.write(*(changed(row, op_clock_at=database.clock()) for row in same))

    async def archive(self, key: str) -> NewArchive | None:
        async with self._seat.transaction() as database:
            known = database.archives.get(key)
            return known.found if known is not None else None

    async def acted(
        self,
        workspace: Workspace,
        step: Step,
        archive: NewArchive | None = None,
        sent: Mapping[str, int | str] | None = None,
    ) -> Workspace | None:
        key: dict[str, Any] = {} if archive is None else {"archive_key": archive.key}
        if sent is not None:
            key |= {"sent": dict(sent)}
        return await self._transition(
            workspace,
            lambda row, now: {"op_step": AFTER_ACTION[step], **_moved(row, step, now), **key},
            [],
            None,
            lambda row: row.op_step is step,
            archive=archive,
        )

    async def all_acted(self, workspaces: Sequence[Workspace]) -> int:
        written = [await self.acted(row, row.op_step) for row in workspaces if row.op_step is not None]
        return sum(row is not None for row in written)

    async def finish(self, workspace: Workspace, finish: Finish) -> Workspace | None:
        volumes = {"home_volume": finish.home_volume, "op_volume": finish.op_volume}
        return await self._transition(
            workspace,
            lambda *_: {**AT_REST, **NO_ERROR, **volumes, "restore_marker": finish.restore_marker},
            operation_event(workspace.operation, Operation.NONE, "done"),
            finish.phase,
        )

    async def withdraw(self, workspace: Workspace, withdraw: Withdraw, phase: Phase) -> Workspace | None:
        story = operation_event(workspace.operation, Operation.NONE, withdraw.why)
        return await self._transition(workspace, _withdrawn, story, phase)

    async def retry(self, workspace: Workspace, retry: Retry) -> Workspace | None:
        attempt = workspace.op_attempt + 1
        made: dict[str, Any] = {}
        if retry.step is Step.ARCHIVE and workspace.op_id is not None:
            made |= {"archive_op_id": attempted_archive(workspace.op_id, attempt)}
        if workspace.operation in (Operation.PROVISIONING, Operation.RESTORING) and workspace.op_id is not None:
            made |= {"op_volume": incarnation_name(workspace.id, workspace.op_id, attempt)}
        fault = retry.fault
        return await self._transition(
            workspace,
            lambda row, now: {
                "op_step": retry.step,
                "op_attempt": attempt,
                "op_clock_at": retry.at,
                "next_attempt_at": retry.at,
                "acted_at": _acted(row, now),
                "error_reason": fault.reason,
                "error_count": workspace.error_count + 1,
                **made,
            },
            [Event(EventKind.FAILURE, workspace.operation, reason=fault.reason, detail=fault.detail)],
        )

    async def give_up(self, workspace: Workspace, give_up: GiveUp) -> Workspace | None:
        reason, asked = give_up.fault.reason, workspace.request
        failed = {"error_reason": reason, "error_count": give_up.error_count, "next_attempt_at": None}
        story = [
            Event(EventKind.FAILURE, workspace.operation, reason=reason, detail=give_up.fault.detail),
            *operation_event(workspace.operation, Operation.NONE, reason),
        ]
        guards: list[Guard] = [lambda row: row.deleted_at is None]
        if asked is not None:
            story.append(request_event(asked, "dismissed", reason))
            guards.append(_asks(asked))
        return await self._transition(
            workspace,
            lambda row, now: {
                **AT_REST,
                **failed,
                "request": None if asked is not None else row.request,
                "acted_at": row.acted_at if row.operation is Operation.NONE else _acted(row, now),
            },
            story,
            Phase.ERROR,
            *guards,
        )

    async def died(self, workspace: Workspace, died: Died) -> Workspace | None:
        values = {"recent_deaths": died.deaths, "next_attempt_at": died.at}
        return await self._transition(workspace, lambda *_: values, [Event(EventKind.DEATH)], Phase.STANDBY)

    async def answer(self, workspace: Workspace, answer: Answer, phase: Phase) -> Workspace | None:
        home = {"home_volume": answer.home_volume, "archive_key": answer.archive_key}
        return await self._transition(
            workspace,
            lambda row, _: {
                **NO_ERROR,
                **home,
                "recent_deaths": (),
                "request": None if answer.done else row.request,
            },
            [request_event(answer.request, "granted")],
            phase,
            _asks(answer.request),
        )

    async def dismiss(self, workspace: Workspace, dismiss: Dismiss) -> Workspace | None:
        story = [request_event(dismiss.request, "dismissed", dismiss.why)]
        return await self._transition(workspace, lambda *_: {"request": None}, story, None, _asks(dismiss.request))

    async def thinned_out(self, workspace: Workspace, container_ids: Sequence[str]) -> Workspace | None:
        async with self._seat.transaction() as database:
            row = database.rows.get(workspace.id)
            if row is None:
                return None
            database.write(changed(row, acted_at=_acted(row, database.clock())))
            database.tell(row.id, surplus_event(container_ids))
            return database.rows[row.id]

    async def _transition(
        self,
        workspace: Workspace,
        change: Change,
        story: Sequence[Event],
        phase: Phase | None = None,
        *guards: Guard,
        archive: NewArchive | None = None,
    ) -> Workspace | None:
        async with self._seat.transaction() as database:
            row = database.rows.get(workspace.id)
            if row is None or _identity(row) != _identity(workspace) or not all(guard(row) for guard in guards):
                return None
            now = database.clock()
            values = change(row, now)
            if phase is not None and phase is not row.phase:
                values |= {"phase": phase, "phase_changed_at": now}
                story = [*story, *phase_event(row.phase, phase)]
            database.write(changed(row, judged_at=workspace.judged_by_a_change, **values))
            database.tell(row.id, story)
            if archive is not None:
                database.record_archive(row, archive)
            return database.rows[row.id]


def _identity(row: Workspace) -> tuple[object, ...]:
    """What must not have changed since the decision."""
    return row.operation, row.op_id, row.op_step, row.op_attempt, row.phase


def _acted(row: Workspace, now: datetime) -> datetime:
    """Later than all that was seen before, also where the clock was set back since."""
    return max(now, row.observed_at + TICK) if row.observed_at is not None else now


def _moved(row: Workspace, step: Step, now: datetime) -> dict[str, Any]:
    return {"op_clock_at": now} if step is Step.PULL else {"acted_at": _acted(row, now)}


def _withdrawn(row: Workspace, now: datetime) -> dict[str, Any]:
    return {**AT_REST, **NO_ERROR, "acted_at": _acted(row, now)}


def _serves(row: Workspace, phase: Phase) -> bool:
    return phase is Phase.RUNNING and row.operation is Operation.NONE


def _attempt(row: Workspace) -> tuple[object, ...]:
    return row.op_id, row.op_step, row.op_attempt


def _asks(request: Request) -> Guard:
    return lambda row: row.request is not None and row.request.id == request.id


def _may_release(row: Workspace) -> bool:
    restoring = row.request is not None and row.request.kind is RequestKind.RESTORE
    return (
        (row.desired_state is Desired.ARCHIVED or restoring)
        and row.deleted_at is None
        and row.archive_key is not None
        and row.home_volume is not None
    )
