"""Defects as somebody might make them, each put into the product for a while: the simulation has to find every one."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar
from unittest.mock import patch
from uuid import UUID

from redis.exceptions import RedisError

from codehub.bus.page_events import PageEvents
from codehub.coordinators import gc_round
from codehub.coordinators.actions import Actions
from codehub.coordinators.archive_acts import ArchiveActs
from codehub.coordinators.job_runner import JobRunner
from codehub.coordinators.leadership import Leadership
from codehub.coordinators.office import Office
from codehub.coordinators.ticker import Ticker
from codehub.coordinators.workspace_controller import WorkspaceController
from codehub.decide import orphans, view
from codehub.decide.orphans import Found, Ground, Round
from codehub.job.marker import Totals, parse_totals
from codehub.job.order import Kind
from codehub.model.conditions import Condition, Status
from codehub.model.plans import Begin, Continue, Finish, Plan, Retry
from codehub.model.states import Desired, Phase, Step
from codehub.model.workspace import Workspace, archive_key
from codehub.runtimes.memory import MemoryVolumes
from codehub.runtimes.memory_engine import Call
from codehub.store.protocols import NewArchive
from tests.simulation import memory_controller
from tests.simulation.engine import SimulatedDisk
from tests.simulation.faults import Case, Fault
from tests.simulation.memory_controller import MemoryController
from tests.simulation.memory_database import MemoryDatabase
from tests.simulation.memory_idle import MemoryIdle
from tests.simulation.memory_redis import MemoryRedis
from tests.simulation.operations import Outcome, run_operation
from tests.simulation.schedules import around, cases

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Defect:
    where: object
    name: str
    instead: object
    operations: tuple[str, ...]
    """Where it would do harm."""
    at: str = ""
    """At which step, and by what there and later; where nothing is said here, by any fault at any step."""
    together: tuple[Fault, ...] = ()
    within: int | None = None
    """How many steps later; None: any number."""

    def cases(self, operation: str) -> Iterator[Case]:
        if not self.together:
            return cases(operation, 1)
        return around(operation, self.at, *self.together, within=self.within)

    @contextmanager
    def made(self) -> Iterator[None]:
        with patch.object(self.where, self.name, self.instead):
            yield


DEFECTS: dict[str, Defect] = {}


def defect(
    where: object,
    name: str,
    *operations: str,
    at: str = "",
    together: tuple[Fault, ...] = (),
    within: int | None = None,
) -> Callable[[F], F]:
    def add(instead: F) -> F:
        DEFECTS[instead.__name__] = Defect(where, name, instead, operations, at, together, within)
        return instead

    return add


def find(name: str) -> tuple[Outcome | None, int]:
    """The first case that goes wrong by it, and how many were tried."""
    made, tried = DEFECTS[name], 0
    for operation in made.operations:
        for case in made.cases(operation):
            tried += 1
            with made.made():
                outcome = run_operation(case)
            if outcome.failure is not None:
                return outcome, tried
    return None, tried


_carry_out, _act, _carried_out = WorkspaceController._carry_out, Actions.act, JobRunner.carry_out
_finish, _retry, _claim, _acted = (
    MemoryController.finish,
    MemoryController.retry,
    MemoryController.claim,
    MemoryController.acted,
)
_collect, _look, _tell = orphans.collect, MemoryRedis._look, PageEvents._tell


@defect(WorkspaceController, "_carry_out", "archive")
async def acts_before_it_records(self: WorkspaceController, office: Office, row: Workspace, decision: Plan) -> None:
    if isinstance(decision, Continue) and decision.step is Step.RELEASE and row.op_step is not Step.RELEASE:
        await office.actions._delete(row)
    await _carry_out(self, office, row, decision)


@defect(MemoryVolumes, "delete", "archive_or_wait", at="volumes.delete", together=(Fault.FREEZE, Fault.WISH))
async def deletes_by_name(self: MemoryVolumes, name: str) -> None:
    """Whatever volume the workspace has by the time that it happens."""
    self._fence()
    engine, owner = self._engine, UUID(name.split("-")[1])
    async with engine.call(Call.DELETE_VOLUME, name):
        for each in [each for each, home in engine.homes.items() if home.spec.workspace_id == owner]:
            if each not in engine.held_homes():
                del engine.homes[each]
                engine.disk.remove_home(each)


@defect(Leadership, "check", "archive", together=(Fault.FREEZE,))
def looks_at_no_deadline(self: Leadership) -> None: ...


@defect(Leadership, "destructive_acts_wait", "stop", "delete")
def does_not_wait_for_its_predecessor(self: Leadership) -> float:  # noqa: ARG001
    return 0.0


@defect(gc_round, "collect", "collect")
def collects_without_a_grace(
    found: Sequence[Found],
    ground: Ground,
    noted: dict[Found, datetime],
    *values: Any,  # noqa: ANN401
) -> Round:
    policy, now, confirmed = values
    listed = list(found)
    known = {each: now - timedelta(days=1) for each in listed} | noted
    return _collect(listed, ground, known, replace(policy, grace=timedelta(0)), now, confirmed)


@defect(gc_round, "named_archives", "collect")
def collects_what_is_named(*_: object) -> dict[str, str]:
    return {}


@defect(Actions, "act", "archive")
async def looks_for_no_marker(self: Actions, workspace: Workspace, step: Step, *known: Any) -> object:  # noqa: ANN401
    """An archive counts as soon as there is something under its key."""
    if step is not Step.VERIFY:
        return await _act(self, workspace, step, *known)
    key, sent = archive_key(workspace.id, workspace.archive_op_id or workspace.id), dict(workspace.sent or {})
    there = await self.archives.store.head(key)
    return NewArchive(workspace.id, key, there.size if there else 0, f"sha256:{sent['sha256']}", 1)


@defect(ArchiveActs, "verify", "archive")
async def believes_what_was_sent(self: ArchiveActs, workspace: Workspace) -> NewArchive:  # noqa: ARG001
    sent = parse_totals(dict(workspace.sent or {}))
    key = archive_key(workspace.id, workspace.archive_op_id or workspace.id)
    return NewArchive(workspace.id, key, sent.size, f"sha256:{sent.sha256}", sent.entries)


@defect(MemoryController, "acted", "archive")
async def stores_the_key_too_late(
    self: MemoryController,
    workspace: Workspace,
    step: Step,
    *made: Any,  # noqa: ANN401
) -> Workspace | None:
    return await _acted(self, workspace, step, *(() if step is Step.VERIFY else made))


@defect(MemoryController, "retry", "restore", "archive")
async def raises_no_generation(self: MemoryController, workspace: Workspace, retry: Retry) -> Workspace | None:
    """What the next attempt makes bears the names of the one that failed."""
    written = await _retry(self, workspace, retry)
    if written is None:
        return None
    async with self._seat.transaction() as database:
        row = replace(database.rows[workspace.id], op_attempt=workspace.op_attempt, op_volume=workspace.op_volume)
        database.write(replace(row, archive_op_id=workspace.archive_op_id))
        return database.rows[workspace.id]


@defect(view, "_recent", "create", "stop", "archive")
def believes_an_old_look(*_: object) -> bool:
    return True


@defect(view, "_lasting_absence", "stop")
def believes_one_look(condition: Condition | None) -> bool:
    return condition is not None and condition.status is Status.FALSE


@defect(MemoryController, "finish", "stop", "create")
async def overwrites_the_wish(self: MemoryController, workspace: Workspace, finish: Finish) -> Workspace | None:
    finished = await _finish(self, workspace, finish)
    if finished is not None and finish.phase in (Phase.RUNNING, Phase.STANDBY):
        async with self._seat.transaction() as database:
            database.write(replace(database.rows[workspace.id], desired_state=Desired(finish.phase.value)))
    return finished


@defect(MemoryController, "claim", "archive_or_wait", at="volumes.delete", together=(Fault.FREEZE, Fault.WISH))
async def restores_into_the_same_volume(
    self: MemoryController,
    workspace: Workspace,
    begin: Begin,
    *values: Any,  # noqa: ANN401
) -> Workspace | None:
    if workspace.home_volume is not None:
        _homes[workspace.id] = workspace.home_volume
    with patch.object(memory_controller, "incarnation_name", lambda owner, *_: _homes[owner]):
        return await _claim(self, workspace, begin, *values)


_homes: dict[UUID, str] = {}


@defect(JobRunner, "carry_out", "restore", "archive")
async def waits_for_no_restore(self: JobRunner, workspace: Workspace, kind: Kind, order: Any) -> Totals:  # noqa: ANN401
    if kind is not Kind.RESTORE:
        return await _carried_out(self, workspace, kind, order)
    spec = await order(False)
    await self.jobs.run(spec)
    assert spec.order.expected is not None
    return spec.order.expected  # type: ignore[no-any-return]


@defect(SimulatedDisk, "is_empty", "restore", at="jobs.run", together=(Fault.FREEZE,))
def restores_over_what_is_there(self: SimulatedDisk, name: str) -> bool:  # noqa: ARG001
    return True


@defect(Ticker, "next", "create", "stop")
async def passes_at_hints_only(self: Ticker) -> None:
    await self._hinted.wait()
    self._hinted.clear()


@defect(MemoryRedis, "_forget", "leave", at="redis: forget", together=(Fault.FREEZE,))
def forgets_what_came_meanwhile(self: MemoryRedis, keys: Sequence[str], words: Sequence[str]) -> None:
    """ZREM without comparing."""
    for member in words[::2]:
        self.sets.get(keys[0], {}).pop(member, None)


@defect(MemoryIdle, "_wish", "leave", at="redis: has done look", together=(Fault.WISH, Fault.LIE), within=1)
def wishes_sleep_without_a_second_look(
    self: MemoryIdle,  # noqa: ARG001
    database: MemoryDatabase,
    ids: Sequence[UUID],
    desired: Desired,
    *_: object,
) -> Sequence[UUID]:
    for each in ids:
        database.wish(database.rows[each], desired, "idle")
    return ids


@defect(PageEvents, "_is_done", "leave", at="redis: publish", together=(Fault.ERROR,))
async def notes_no_event_that_was_lost(_: PageEvents, telling: Awaitable[object]) -> bool:
    with suppress(RedisError):
        await telling
    return True


@defect(PageEvents, "_tell", "leave", at="redis: publish", together=(Fault.FREEZE,))
async def says_late_what_was_so(self: PageEvents, *said: tuple[str, bytes], **_: bool) -> None:
    await _tell(self, *said, fenced=False)


@defect(MemoryController, "finish", "create")
async def keeps_what_went_wrong_before(
    self: MemoryController, workspace: Workspace, finish: Finish
) -> Workspace | None:
    """A success forgets no failure: with the next one it is given up."""
    finished = await _finish(self, workspace, finish)
    if finished is None:
        return None
    async with self._seat.transaction() as database:
        row = database.rows[workspace.id]
        database.write(replace(row, error_reason=workspace.error_reason, error_count=workspace.error_count))
        return database.rows[workspace.id]


@defect(MemoryRedis, "_look", "leave", at="redis: look", together=(Fault.CLOCK,))
def takes_a_clock_that_was_set_for_time_that_has_passed(
    self: MemoryRedis, keys: Sequence[str], words: Sequence[str]
) -> list[Any]:
    return _look(self, keys, [*words[:3], "inf"])
