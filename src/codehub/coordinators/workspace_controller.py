"""The WorkspaceController judges, plans, claims and acts: it makes what is into what is wished."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import assert_never
from uuid import UUID, uuid4

import structlog

from codehub.archives.errors import StoreError
from codehub.coordinators.actions import DESTRUCTIVE, Actions, to_fault
from codehub.coordinators.archiving import Archiving
from codehub.coordinators.at_once import recorded_at_once, tell_judged
from codehub.coordinators.database_clock import DatabaseClock
from codehub.coordinators.leadership import Deposed, Fence, Leadership
from codehub.coordinators.observer import RUNTIME_LISTING
from codehub.coordinators.office import Acted, Office, ThinnedOut
from codehub.coordinators.progress import Progress
from codehub.coordinators.refusals import Refusals
from codehub.coordinators.services import Services
from codehub.coordinators.slots import Slots
from codehub.coordinators.supervisor import Report
from codehub.coordinators.surplus import remove_surplus
from codehub.coordinators.ticker import Ticker
from codehub.decide.afterwards import phase_after
from codehub.decide.judge import judge
from codehub.decide.origins import Origins
from codehub.decide.plan import Circumstances, plan
from codehub.decide.retry import RetryPolicy, after_failure
from codehub.job.marker import Totals
from codehub.model.plans import (
    Answer,
    Begin,
    Continue,
    Died,
    Dismiss,
    Fault,
    Finish,
    GiveUp,
    Plan,
    RemoveSurplus,
    Rest,
    Retry,
    WaitUntil,
    Withdraw,
)
from codehub.model.states import ErrorReason, ImageState, Operation, Step
from codehub.model.workspace import Workspace
from codehub.runtimes.errors import Removed, RuntimeFault
from codehub.runtimes.protocols import Runtime
from codehub.store.protocols import ControllerStore, Judged, NewArchive, Seat
from codehub.telemetry.traces import Traces

log = structlog.get_logger()


@dataclass
class WorkspaceController:
    runtime: Runtime
    archiving: Archiving
    fence: Fence
    open_store: Callable[[Seat], ControllerStore]
    wake_observer: Callable[[*tuple[UUID, ...]], Awaitable[None]]
    hints: Callable[[Callable[[UUID | None], None]], Awaitable[None]]
    progress: Progress
    ticker: Ticker
    policy: RetryPolicy
    spread: Callable[[], float]
    elapsed: Callable[[], float]
    slots: Slots
    batch: int = 500
    name: str = "wc"
    lock_name: str = "coordinator:wc"
    traces: Traces = field(default_factory=Traces)
    origins: Origins | None = None
    inside_key: bytes | None = None
    new_id: Callable[[], UUID] = uuid4

    async def run(self, leadership: Leadership, report: Report) -> None:
        with self.fence.open_for(leadership):
            await self._lead(leadership, report)

    async def _lead(self, leadership: Leadership, report: Report) -> None:
        async with asyncio.TaskGroup() as group:
            clock = DatabaseClock(self.elapsed, await leadership.seat.now())
            store = self.open_store(leadership.seat)
            engine = await store.engine(RUNTIME_LISTING)
            compare = self.archiving.comparison(leadership)
            require_room, hint = self.archiving.store.require_room, self.ticker.hint
            services = Services(
                self.runtime, self.archiving.backups, compare, require_room, clock.now, hint, engine, report.services
            )
            archives = self.archiving.acts(self.runtime, leadership, self.progress.told_by_job, clock.now)
            backups = self.archiving.backups
            pulled, told = self.progress.pulled, (self.origins, self.inside_key)
            actions = Actions(self.runtime, leadership, archives, backups, pulled, *told)
            office = Office(store, leadership, actions, services, group, clock, Refusals(report, self.elapsed))
            group.create_task(self.archiving.serve(report), name="archiving")
            group.create_task(services.watch(), name="services")
            group.create_task(self.progress.flush_for_ever(), name="progress")
            group.create_task(self._hear(), name="controller hints")
            self.ticker.hint()  # a new term looks at once, whatever the one before has seen
            while True:
                await self.ticker.next()
                await leadership.verify()
                with report.one_pass():
                    await self._pass(office)

    async def _hear(self) -> None:
        await self.hints(lambda _: self.ticker.hint())

    async def _pass(self, office: Office) -> None:
        """Record what the acts have come to, then decide over every row that wants it, in batches, those that people
        wait for first."""
        now = await office.leadership.seat.now()
        office.clock.set(now)
        await office.record_late()  # before their outcomes: the clock goes on into the next step
        outcomes, office.outcomes = office.outcomes, []
        for outcome in await recorded_at_once(office, outcomes):
            with office.refusals.bulkhead(outcome.workspace):
                await self._record(office, outcome, now)
        for outcome in outcomes:
            office.forget(outcome.workspace)
        if outcomes:
            await self.wake_observer(*(outcome.workspace.id for outcome in outcomes))
        last: Workspace | None = None
        while rows := await office.store.unsettled(last, self.batch):
            office.templates = await office.store.templates()
            await self._decide(office, rows, now)
            last = rows[-1]
            if len(rows) < self.batch:
                break

    async def _record(self, office: Office, outcome: Acted | ThinnedOut, now: datetime) -> None:
        match outcome:
            case ThinnedOut(workspace, removed):
                await office.store.thinned_out(workspace, removed)
                log.info("surplus containers removed", workspace_id=str(workspace.id), container_ids=removed)
            case Acted():
                await self._record_act(office, outcome, now)

    async def _record_act(self, office: Office, acted: Acted, now: datetime) -> None:
        workspace, step, made = acted.workspace, acted.step, acted.made
        if acted.fault is None:
            archive = made if isinstance(made, NewArchive) else None
            sent = asdict(made) if isinstance(made, Totals) else None
            await office.store.acted(workspace, step, archive, sent)
            return
        decision = after_failure(workspace, step, acted.fault, now, self.policy, self.spread())
        if not isinstance(decision, WaitUntil):
            await self._record_failure(office, workspace, decision)

    async def _decide(self, office: Office, rows: Sequence[Workspace], now: datetime) -> None:
        judged = []
        for row in [row for row in rows if not office.refusals.rests(row)]:
            if row.operation is not Operation.NONE:
                self.ticker.stay_active()
            template = office.template_of(row)
            circumstances = Circumstances(
                now=now,
                policy=self.policy,
                services=office.services.states(office.image_of(row)),
                image=template.state if template is not None else ImageState.READY,
                acting=office.acting_on(row),
                spread=self.spread(),
            )
            decision = plan(row, circumstances)
            if isinstance(decision, WaitUntil):
                self.progress.waits(row, decision)
            if isinstance(decision, Rest | WaitUntil):
                told = Judged(row, judge(row, self.policy.max_retries), at_rest=isinstance(decision, Rest))
                if told.phase is not row.phase or told.judged_at != row.judged_at:
                    judged.append(told)
            else:
                with office.refusals.bulkhead(row):
                    await self._carry_out(office, row, decision)
        await tell_judged(office, judged)

    async def _carry_out(  # noqa: C901, PLR0912 (one arm for each plan)
        self, office: Office, row: Workspace, decision: Plan
    ) -> None:
        """One decision, one guarded transition; then the act, if there is one. A guard that did not hold means that
        the row has moved on: the next pass decides again."""
        store, max_retries = office.store, self.policy.max_retries
        match decision:
            case Begin():
                await office.cancel(row)  # the removal of surplus containers, if any: an operation sees to them itself
                claimed = await store.claim(row, decision, self.new_id(), phase_after(row, decision, max_retries))
                if claimed is not None:
                    log.info("operation begun", workspace_id=str(row.id), operation=decision.operation)
                    await self._act(office, claimed, decision.step)
            case Continue(step):
                current = row if step is row.op_step else await store.enter(row, step)
                if current is not None:
                    await self._act(office, current, step)
            case Finish():
                if await store.finish(row, decision) is not None:
                    office.dismiss_jobs(row)
                    log.info("operation done", workspace_id=str(row.id), operation=row.operation, phase=decision.phase)
                    self.ticker.hint()
            case Withdraw():
                await self._withdraw(office, row, decision)
            case Retry() | GiveUp():
                await office.cancel(row)
                await self._record_failure(office, row, decision)
            case Died():
                await store.died(row, decision)
            case Answer():
                if await store.answer(row, decision, phase_after(row, decision, max_retries)) is not None:
                    self.ticker.hint()
            case Dismiss():
                await store.dismiss(row, decision)
            case RemoveSurplus():
                office.acting[row.id] = office.group.create_task(
                    self._removing(office, row, decision), name=f"remove surplus {row.id}"
                )
            case Rest() | WaitUntil():
                pass
            case _:
                assert_never(decision)

    async def _withdraw(self, office: Office, row: Workspace, decision: Withdraw) -> None:
        await office.cancel(row)
        if await office.store.withdraw(row, decision, phase_after(row, decision, self.policy.max_retries)) is not None:
            office.dismiss_jobs(row)
            log.info("operation withdrawn", workspace_id=str(row.id), operation=row.operation, why=decision.why)
            await self.wake_observer(row.id)  # somebody waits for it, and what was seen before counts no more
            self.ticker.hint()

    async def _act(self, office: Office, workspace: Workspace, step: Step) -> None:
        if workspace.id in office.acting:
            return
        key = workspace.archive_key if step is Step.RESTORE else None
        known = await office.store.archive(key) if key is not None else None
        task = office.group.create_task(self._acting(office, workspace, step, known), name=f"{step} {workspace.id}")
        office.acting[workspace.id] = task
        office.queued.add(workspace.id)

    async def _acting(self, office: Office, workspace: Workspace, step: Step, known: NewArchive | None) -> None:
        """One act, beside the passes. One workspace's trouble stays its own: whatever goes wrong becomes that
        workspace's failed attempt. A leader that was deposed does nothing more; the next one does this act. Where
        somebody else has removed its job, one of the two acts for a row that has moved on: the next pass decides anew
        from the row as it is."""
        structlog.contextvars.bind_contextvars(workspace_id=str(workspace.id))
        fault = made = None
        try:
            if step in DESTRUCTIVE:  # and keeps no other act from its turn meanwhile
                await asyncio.sleep(office.leadership.destructive_acts_wait())
            async with self.slots.turn(step):
                if not office.has_its_turn(workspace):
                    self.ticker.hint()
                with self.traces.span(f"act {step}", {"codehub.workspace_id": str(workspace.id)}, workspace.op_id):
                    made = await office.actions.act(workspace, step, office.template_of(workspace), known)
        except Deposed:
            office.forget(workspace)
            return
        except Removed as error:
            log.warning("act left for the next pass", step=step, error=str(error))
            office.forget(workspace)
            return
        except (RuntimeFault, StoreError) as error:
            fault = to_fault(error, await office.services.away(error, office.image_of(workspace), step))
        except Exception as error:
            log.exception("act failed in an unforeseen way", workspace_id=str(workspace.id), step=step)
            fault = Fault(ErrorReason.ACTION_FAILED, repr(error))
        office.outcomes.append(Acted(workspace, step, fault, made))
        self.ticker.hint()

    async def _removing(self, office: Office, workspace: Workspace, decision: RemoveSurplus) -> None:
        await remove_surplus(office, workspace, decision, self.slots, self.policy, self.spread)
        self.ticker.hint()

    async def _record_failure(self, office: Office, row: Workspace, decision: Retry | GiveUp) -> None:
        fault: Fault = decision.fault
        if isinstance(decision, Retry):
            recorded = await office.store.retry(row, decision)
        else:
            recorded = await office.store.give_up(row, decision)
        if recorded is not None:
            office.dismiss_jobs(row)
            log.warning(
                "attempt failed" if isinstance(decision, Retry) else "given up",
                workspace_id=str(row.id),
                operation=row.operation,
                reason=fault.reason,
                detail=fault.detail,
            )
