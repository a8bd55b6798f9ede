"""What the WorkspaceController reads and writes: one function for each transition, its guard in the SQL."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Uuid, bindparam, func, or_, select, text, tuple_, update
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.types import Text

from codehub.decide.steps import AFTER_ACTION
from codehub.model.plans import Answer, Begin, Died, Dismiss, Finish, GiveUp, Retry, Withdraw
from codehub.model.states import Desired, Operation, Phase, Step
from codehub.model.workspace import RequestKind, Workspace, incarnation_name
from codehub.store.events import Event, EventKind, operation_event, phase_event, tell
from codehub.store.protocols import Judged, NewArchive
from codehub.store.rows import WORKSPACE_COLUMNS, to_workspace
from codehub.store.seat import PostgresSeat
from codehub.store.tables import archives, workspaces

NOW = func.clock_timestamp()
NO_ERROR: dict[str, Any] = {"error_reason": None, "error_count": 0, "next_attempt_at": None}
AT_REST: dict[str, Any] = {"operation": Operation.NONE, "op_step": None, "op_attempt": 0, "op_clock_at": None}

_MAKES_A_VOLUME = (Operation.PROVISIONING, Operation.RESTORING)
_MAKES_AN_ARCHIVE = (Operation.ARCHIVING, Operation.CREATE_EMPTY_ARCHIVE)

_UNSETTLED = text("NOT settled")  # as the index says it
_UNHURRIED = workspaces.c.desired_state != "RUNNING"

_JUDGED = text("""
    WITH changed AS (
        UPDATE workspaces
        SET phase = judged.after,
            phase_changed_at = CASE WHEN judged.after <> judged.before THEN clock_timestamp() ELSE phase_changed_at END,
            judged_at = judged.observed_at
        FROM unnest(:ids, :op_ids, :steps, :before, :after, :observed)
             AS judged (id, op_id, step, before, after, observed_at)
        WHERE workspaces.id = judged.id
          AND workspaces.phase = judged.before
          AND workspaces.op_id IS NOT DISTINCT FROM judged.op_id
          AND workspaces.op_step IS NOT DISTINCT FROM judged.step
        RETURNING workspaces.id, judged.before, judged.after
    ), told AS (
        INSERT INTO workspace_events (workspace_id, kind, before, after)
        SELECT id, 'phase', before, after FROM changed WHERE before <> after
    )
    SELECT count(*) FROM changed
""").bindparams(
    bindparam("ids", type_=ARRAY(Uuid)),
    bindparam("op_ids", type_=ARRAY(Uuid)),
    bindparam("steps", type_=ARRAY(Text)),
    bindparam("before", type_=ARRAY(Text)),
    bindparam("after", type_=ARRAY(Text)),
    bindparam("observed", type_=ARRAY(workspaces.c.observed_at.type)),
)


class PostgresController:
    def __init__(self, seat: PostgresSeat) -> None:
        self._seat = seat

    async def unsettled(self, after: Workspace | None, limit: int) -> Sequence[Workspace]:
        query = select(*WORKSPACE_COLUMNS).where(_UNSETTLED).order_by(_UNHURRIED, workspaces.c.id).limit(limit)
        if after is not None:
            place = after.desired_state is not Desired.RUNNING, after.id
            query = query.where(tuple_(_UNHURRIED, workspaces.c.id) > place)
        async with self._seat.transaction() as connection:
            return [to_workspace(row) for row in await connection.execute(query)]

    async def workspace(self, workspace_id: UUID) -> Workspace | None:
        query = select(*WORKSPACE_COLUMNS).where(workspaces.c.id == workspace_id)
        async with self._seat.transaction() as connection:
            row = (await connection.execute(query)).first()
            return to_workspace(row) if row is not None else None

    async def judged(self, batch: Sequence[Judged]) -> int:
        if not batch:
            return 0
        rows = [each.workspace for each in batch]
        async with self._seat.transaction() as connection:
            count: int = await connection.scalar(
                _JUDGED,
                {
                    "ids": [row.id for row in rows],
                    "op_ids": [row.op_id for row in rows],
                    "steps": [row.op_step for row in rows],
                    "before": [row.phase for row in rows],
                    "after": [each.phase for each in batch],
                    "observed": [row.observed_at for row in rows],
                },
            )
            return count

    async def claim(self, workspace: Workspace, begin: Begin, op_id: UUID, phase: Phase) -> Workspace | None:
        operation = begin.operation
        values: dict[str, Any] = {
            "operation": operation,
            "op_id": op_id,
            "op_started_at": NOW,
            "op_clock_at": NOW,
            "op_step": begin.step,
            "op_attempt": 1,
            "next_attempt_at": None,
        }
        if operation in _MAKES_A_VOLUME:
            values |= {"op_volume": incarnation_name(workspace.id, op_id, 1), **_home_ctx(restore_marker=None)}
        if operation in _MAKES_AN_ARCHIVE:
            values |= {"archive_op_id": op_id}
        if begin.consumes is not None:
            values |= {**NO_ERROR, "request": None}
        guard = workspaces.c.desired_state == workspace.desired_state
        story = operation_event(workspace.operation, operation)
        return await self._transition(workspace, values, story, phase, guard)

    async def enter(self, workspace: Workspace, step: Step) -> Workspace | None:
        if step is not Step.RELEASE:
            return await self._transition(workspace, {"op_step": step}, [])
        still_wished = or_(
            workspaces.c.desired_state == Desired.ARCHIVED,
            workspaces.c.request["kind"].astext == RequestKind.RESTORE,
        )
        values = {"op_step": step, "op_volume": workspace.home_volume, "home_volume": None}
        guards = still_wished, workspaces.c.deleted_at.is_(None), workspaces.c.archive_key.is_not(None)
        return await self._transition(workspace, values, [], None, *guards)

    async def acted(self, workspace: Workspace, step: Step, archive: NewArchive | None = None) -> Workspace | None:
        values: dict[str, Any] = {"op_step": AFTER_ACTION[step]}
        values |= {"op_clock_at": NOW} if step is Step.PULL else {"acted_at": NOW}
        if archive is not None:
            values |= {"archive_key": archive.key}
        async with self._seat.transaction() as connection:
            changed = await self._change(connection, workspace, values, [])
            if changed is not None and archive is not None:
                await _record_archive(connection, changed, archive)
            return changed

    async def finish(self, workspace: Workspace, finish: Finish) -> Workspace | None:
        values = {
            **AT_REST,
            **NO_ERROR,
            **_home_ctx(restore_marker=finish.restore_marker),
            "home_volume": finish.home_volume,
            "op_volume": None,
        }
        story = operation_event(workspace.operation, Operation.NONE, "done")
        return await self._transition(workspace, values, story, finish.phase)

    async def withdraw(self, workspace: Workspace, withdraw: Withdraw, phase: Phase) -> Workspace | None:
        story = operation_event(workspace.operation, Operation.NONE, withdraw.why)
        return await self._transition(workspace, {**AT_REST, **NO_ERROR, "acted_at": NOW}, story, phase)

    async def retry(self, workspace: Workspace, retry: Retry) -> Workspace | None:
        values: dict[str, Any] = {
            "op_step": retry.step,
            "op_attempt": workspace.op_attempt + 1,
            "op_clock_at": retry.at,
            "next_attempt_at": retry.at,
            "acted_at": NOW,
            "error_reason": retry.fault.reason,
            "error_count": workspace.error_count + 1,
        }
        if workspace.operation in _MAKES_A_VOLUME and workspace.op_id is not None:
            values |= {"op_volume": incarnation_name(workspace.id, workspace.op_id, workspace.op_attempt + 1)}
        failure = Event(EventKind.FAILURE, workspace.operation, reason=retry.fault.reason, detail=retry.fault.detail)
        return await self._transition(workspace, values, [failure])

    async def give_up(self, workspace: Workspace, give_up: GiveUp) -> Workspace | None:
        reason = give_up.fault.reason
        values = {
            **AT_REST,
            "error_reason": reason,
            "error_count": give_up.error_count,
            "next_attempt_at": None,
            "request": None,
        }
        if workspace.operation is not Operation.NONE:
            values |= {"acted_at": NOW}  # what it had done by then, only a new look can tell
        story = [
            Event(EventKind.FAILURE, workspace.operation, reason=reason, detail=give_up.fault.detail),
            *operation_event(workspace.operation, Operation.NONE, reason),
        ]
        return await self._transition(workspace, values, story, Phase.ERROR, workspaces.c.deleted_at.is_(None))

    async def died(self, workspace: Workspace, died: Died) -> Workspace | None:
        values = {"recent_deaths": list(died.deaths), "next_attempt_at": died.at}
        return await self._transition(workspace, values, [Event(EventKind.DEATH)], Phase.STANDBY)

    async def answer(self, workspace: Workspace, answer: Answer, phase: Phase) -> Workspace | None:
        values = {
            **NO_ERROR,
            "recent_deaths": [],
            "home_volume": answer.home_volume,
            "archive_key": answer.archive_key,
        }
        if answer.done:
            values |= {"request": None}
        story = [Event(EventKind.REQUEST, after=answer.request.kind, actor=answer.request.actor, reason="granted")]
        return await self._transition(workspace, values, story, phase, _asks(answer.request.id))

    async def dismiss(self, workspace: Workspace, dismiss: Dismiss) -> Workspace | None:
        asked = dismiss.request
        event = Event(EventKind.REQUEST, after=asked.kind, actor=asked.actor, reason="dismissed", detail=dismiss.why)
        return await self._transition(workspace, {"request": None}, [event], None, _asks(asked.id))

    async def _transition(
        self,
        workspace: Workspace,
        values: dict[str, Any],
        story: Sequence[Event],
        phase: Phase | None = None,
        *guards: ColumnElement[bool],
    ) -> Workspace | None:
        if phase is not None and phase is not workspace.phase:
            values = {**values, "phase": phase, "phase_changed_at": NOW}
            story = [*story, *phase_event(workspace.phase, phase)]
        async with self._seat.transaction() as connection:
            return await self._change(connection, workspace, values, story, *guards)

    async def _change(
        self,
        connection: AsyncConnection,
        workspace: Workspace,
        values: dict[str, Any],
        story: Sequence[Event],
        *guards: ColumnElement[bool],
    ) -> Workspace | None:
        """Compare and set: the row still has the operation, step, attempt and phase that the decision was made on."""
        changed = (
            update(workspaces)
            .where(
                workspaces.c.id == workspace.id,
                workspaces.c.operation == workspace.operation,
                workspaces.c.op_id.is_not_distinct_from(workspace.op_id),
                workspaces.c.op_step.is_not_distinct_from(workspace.op_step),
                workspaces.c.op_attempt == workspace.op_attempt,
                workspaces.c.phase == workspace.phase,
                *guards,
            )
            .values(judged_at=workspace.observed_at, **values)
            .returning(*WORKSPACE_COLUMNS)
            .cte("changed")
        )
        query = select(changed)
        if story:
            query = query.add_cte(tell(changed, story))
        row = (await connection.execute(query)).first()
        return to_workspace(row) if row is not None else None


def _home_ctx(*, restore_marker: str | None) -> dict[str, Any]:
    """Change the marker and leave what else is known of the home."""
    return {"home_ctx": workspaces.c.home_ctx.concat({"restore_marker": restore_marker})}


def _asks(request_id: UUID) -> ColumnElement[bool]:
    asked: ColumnElement[str] = workspaces.c.request["id"].astext
    return asked == str(request_id)


async def _record_archive(connection: AsyncConnection, workspace: Workspace, archive: NewArchive) -> None:
    newest = select(func.coalesce(func.max(archives.c.generation), 0)).where(archives.c.workspace_id == workspace.id)
    await connection.execute(
        insert(archives)
        .values(
            id=archive.id,
            workspace_id=workspace.id,
            generation=newest.scalar_subquery() + 1,
            key=archive.key,
            size=archive.size,
            checksum=archive.checksum,
            entries=archive.entries,
            op_id=workspace.op_id,
            made_at=NOW,
            verified_at=NOW,
            kept=False,
        )
        .on_conflict_do_nothing(index_elements=["key"])
    )
