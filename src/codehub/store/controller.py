"""What the WorkspaceController reads and writes: one function for each transition, its guard in the SQL."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    func,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.decide.steps import AFTER_ACTION
from codehub.model.plans import Answer, Begin, Died, Dismiss, Finish, GiveUp, Retry, Withdraw
from codehub.model.states import Desired, Operation, Phase, Step
from codehub.model.templates import Template
from codehub.model.workspace import RequestKind, Workspace, attempted_archive, incarnation_name
from codehub.store import batches
from codehub.store.compare_and_set import ACTED, NOW, change, compare_and_set
from codehub.store.history import Event, EventKind, operation_event, phase_event, request_event, surplus_event
from codehub.store.protocols import Judged, NewArchive
from codehub.store.rows import WORKSPACE_COLUMNS, to_template, to_workspace
from codehub.store.seat import PostgresSeat
from codehub.store.shards import Shard
from codehub.store.tables import archives, observer_state, templates, workspaces
from codehub.store.unsettled import unsettled

NO_ERROR: dict[str, Any] = {"error_reason": None, "error_count": 0, "next_attempt_at": None}
AT_REST: dict[str, Any] = {"operation": Operation.NONE, "op_step": None, "op_attempt": 0, "op_clock_at": None}

_MAKES_A_VOLUME = (Operation.PROVISIONING, Operation.RESTORING)
_MAKES_AN_ARCHIVE = (Operation.ARCHIVING, Operation.CREATE_EMPTY_ARCHIVE)


class PostgresController:
    def __init__(self, seat: PostgresSeat, shard: Shard | None = None) -> None:
        self._seat = seat
        self._whose = [] if shard is None or shard.of == 1 else [shard.workspaces()]

    async def unsettled(self, after: Workspace | None, limit: int) -> Sequence[Workspace]:
        async with self._seat.statement() as connection:
            return await unsettled(connection, after, limit, *self._whose)

    async def workspace(self, workspace_id: UUID) -> Workspace | None:
        query = select(*WORKSPACE_COLUMNS).where(workspaces.c.id == workspace_id)
        async with self._seat.statement() as connection:
            row = (await connection.execute(query)).first()
            return to_workspace(row) if row is not None else None

    async def templates(self) -> dict[UUID, Template]:
        async with self._seat.statement() as connection:
            rows = await connection.execute(select(templates).where(templates.c.image_ref.is_not(None)))
            return {row.id: to_template(row) for row in rows}

    async def engine(self, kind: str) -> str | None:
        async with self._seat.statement() as connection:
            found: str | None = await connection.scalar(
                select(observer_state.c.engine).where(observer_state.c.kind == kind)
            )
            return found

    async def judged(self, batch: Sequence[Judged]) -> int:
        if not batch:
            return 0
        async with self._seat.statement() as connection:
            count: int = await connection.scalar(batches.JUDGED, batches.judged(batch))
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
            values |= {"archive_op_id": attempted_archive(op_id, 1), **_home_ctx(sent=None)}
        story = operation_event(workspace.operation, operation)
        guards: list[ColumnElement[bool]] = [workspaces.c.desired_state == workspace.desired_state]
        if begin.consumes is not None:
            values |= {**NO_ERROR, "request": None}
            story = [request_event(begin.consumes, "granted"), *story]
            guards.append(_asks(begin.consumes.id))
        return await self._transition(workspace, values, story, phase, *guards)

    async def enter(self, workspace: Workspace, step: Step) -> Workspace | None:
        if step is not Step.RELEASE:
            return await self._transition(workspace, {"op_step": step}, [])
        still_wished = or_(
            workspaces.c.desired_state == Desired.ARCHIVED,
            workspaces.c.request["kind"].astext == RequestKind.RESTORE,
        )
        values = {"op_step": step, "op_volume": workspaces.c.home_volume, "home_volume": None}
        guards = (
            still_wished,
            workspaces.c.deleted_at.is_(None),
            workspaces.c.archive_key.is_not(None),
            workspaces.c.home_volume.is_not(None),  # entered twice, it would forget what it has let go of
        )
        return await self._transition(workspace, values, [], None, *guards)

    async def begun(self, workspaces: Sequence[Workspace]) -> None:
        async with self._seat.statement() as connection:
            await connection.execute(batches.BEGUN, batches.attempts(workspaces))

    async def archive(self, key: str) -> NewArchive | None:
        columns = (archives.c.id, archives.c.key, archives.c.size, archives.c.checksum, archives.c.entries)
        async with self._seat.statement() as connection:
            row = (await connection.execute(select(*columns).where(archives.c.key == key))).first()
            return NewArchive(*row) if row is not None else None

    async def acted(
        self,
        workspace: Workspace,
        step: Step,
        archive: NewArchive | None = None,
        sent: Mapping[str, int | str] | None = None,
    ) -> Workspace | None:
        values: dict[str, Any] = {"op_step": AFTER_ACTION[step]}
        values |= {"op_clock_at": NOW} if step is Step.PULL else {"acted_at": ACTED}
        if archive is not None:
            values |= {"archive_key": archive.key}
        if sent is not None:
            values |= _home_ctx(sent=dict(sent))
        async with self._seat.transaction() if archive is not None else self._seat.statement() as connection:
            changed = await compare_and_set(connection, workspace, values, [], workspaces.c.op_step == step)
            if changed is not None and archive is not None:
                await _record_archive(connection, changed, archive)
            return changed

    async def all_acted(self, workspaces: Sequence[Workspace]) -> int:
        async with self._seat.statement() as connection:
            return (await connection.execute(batches.ALL_ACTED, batches.acted(workspaces))).rowcount

    async def finish(self, workspace: Workspace, finish: Finish) -> Workspace | None:
        values = {
            **AT_REST,
            **NO_ERROR,
            **_home_ctx(restore_marker=finish.restore_marker),
            "home_volume": finish.home_volume,
            "op_volume": finish.op_volume,
        }
        story = operation_event(workspace.operation, Operation.NONE, "done")
        return await self._transition(workspace, values, story, finish.phase)

    async def withdraw(self, workspace: Workspace, withdraw: Withdraw, phase: Phase) -> Workspace | None:
        story = operation_event(workspace.operation, Operation.NONE, withdraw.why)
        return await self._transition(workspace, {**AT_REST, **NO_ERROR, "acted_at": ACTED}, story, phase)

    async def retry(self, workspace: Workspace, retry: Retry) -> Workspace | None:
        values: dict[str, Any] = {
            "op_step": retry.step,
            "op_attempt": workspace.op_attempt + 1,
            "op_clock_at": retry.at,
            "next_attempt_at": retry.at,
            "acted_at": ACTED,
            "error_reason": retry.fault.reason,
            "error_count": workspace.error_count + 1,
        }
        if workspace.operation in _MAKES_A_VOLUME and workspace.op_id is not None:
            values |= {"op_volume": incarnation_name(workspace.id, workspace.op_id, workspace.op_attempt + 1)}
        if retry.step is Step.ARCHIVE and workspace.op_id is not None:
            values |= {"archive_op_id": attempted_archive(workspace.op_id, workspace.op_attempt + 1)}
        failure = Event(EventKind.FAILURE, workspace.operation, reason=retry.fault.reason, detail=retry.fault.detail)
        return await self._transition(workspace, values, [failure])

    async def give_up(self, workspace: Workspace, give_up: GiveUp) -> Workspace | None:
        reason = give_up.fault.reason
        values = {
            **AT_REST,
            "error_reason": reason,
            "error_count": give_up.error_count,
            "next_attempt_at": None,
        }
        if workspace.operation is not Operation.NONE:
            values |= {"acted_at": ACTED}  # what it had done by then, only a new look can tell
        story = [
            Event(EventKind.FAILURE, workspace.operation, reason=reason, detail=give_up.fault.detail),
            *operation_event(workspace.operation, Operation.NONE, reason),
        ]
        guards: list[ColumnElement[bool]] = [workspaces.c.deleted_at.is_(None)]
        if workspace.request is not None:  # one that came later is not this failure's to drop
            values |= {"request": None}
            story.append(request_event(workspace.request, "dismissed", reason))
            guards.append(_asks(workspace.request.id))
        return await self._transition(workspace, values, story, Phase.ERROR, *guards)

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
        story = [request_event(answer.request, "granted")]
        return await self._transition(workspace, values, story, phase, _asks(answer.request.id))

    async def dismiss(self, workspace: Workspace, dismiss: Dismiss) -> Workspace | None:
        story = [request_event(dismiss.request, "dismissed", dismiss.why)]
        return await self._transition(workspace, {"request": None}, story, None, _asks(dismiss.request.id))

    async def thinned_out(self, workspace: Workspace, container_ids: Sequence[str]) -> Workspace | None:
        async with self._seat.statement() as connection:
            return await change(connection, workspace.id, {"acted_at": ACTED}, surplus_event(container_ids))

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
        async with self._seat.statement() as connection:
            return await compare_and_set(connection, workspace, values, story, *guards)


def _home_ctx(**known: str | dict[str, int | str] | None) -> dict[str, Any]:
    """Change this, and leave what else is known of the home."""
    return {"home_ctx": workspaces.c.home_ctx.concat(known)}


def _asks(request_id: UUID) -> ColumnElement[bool]:
    asked: ColumnElement[str] = workspaces.c.request["id"].astext
    return asked == str(request_id)


async def _record_archive(connection: AsyncConnection, workspace: Workspace, archive: NewArchive) -> None:
    """One row for each key. An archive that was made again under its key (contract 7) is described anew."""
    found = {"size": archive.size, "checksum": archive.checksum, "entries": archive.entries, "verified_at": NOW}
    newest = select(func.coalesce(func.max(archives.c.generation), 0)).where(archives.c.workspace_id == workspace.id)
    await connection.execute(
        insert(archives)
        .values(
            id=archive.id,
            workspace_id=workspace.id,
            generation=newest.scalar_subquery() + 1,
            key=archive.key,
            op_id=workspace.op_id,
            made_at=NOW,
            kept=False,
            **found,
        )
        .on_conflict_do_update(index_elements=["key"], set_=found)
    )
