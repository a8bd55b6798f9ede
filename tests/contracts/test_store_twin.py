"""The twin is PostgreSQL's equal: the same random life, lived on both, leaves the same rows and the same history.

What each transition must do is said by the other suites; here nobody says it, and the two must still agree, on
snapshots that are current as well as on old ones."""

from collections.abc import Awaitable, Callable
from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contracts.store_backends import AHEAD, Backend, MemoryBackend, PostgresBackend
from tests.contracts.store_lives import BROKEN, made, request
from tests.decide.builders import archive_seen

from codehub import clock
from codehub.decide.steps import AFTER_ACTION, FIRST_STEP
from codehub.model.conditions import Conditions
from codehub.model.plans import Answer, Begin, Died, Dismiss, Finish, GiveUp, Retry, Withdraw, Withdrawal
from codehub.model.states import Desired, Operation, Phase, Step
from codehub.model.workspace import RequestKind, Workspace
from codehub.store.protocols import ControllerStore, Judged, Observed, ObserverStore, Seat

NOW = clock.now() + AHEAD
PATIENCE_SECONDS = 600  # the seats outlast the search for a shorter example
operations = st.sampled_from([operation for operation in Operation if operation is not Operation.NONE])
phases = st.sampled_from(Phase)
acts = st.sampled_from(sorted(AFTER_ACTION))
moments = st.integers(0, 20).map(lambda seconds: NOW + timedelta(seconds=seconds))
volumes = st.sampled_from([None, "a volume"])


class Life:
    """One backend, one workspace in it, and every snapshot of it that was ever read."""

    def __init__(
        self, backend: Backend, controller: ControllerStore, observer: ObserverStore, first: Workspace
    ) -> None:
        self.backend, self.controller, self.observer = backend, controller, observer
        self.snapshots = [first]
        self._first_seen: dict[datetime, int] = {}

    async def live(self, act: "Act", how_old: int) -> object:
        """Act on a snapshot of some age; what came of it, in words that both backends share."""
        snapshot = self.snapshots[-1 - how_old % len(self.snapshots)]
        try:
            outcome = await act(self, snapshot)
        except self.backend.refused:
            outcome = "refused"
        self.snapshots.append(await self.backend.row(snapshot.id))
        settled = await self.backend.is_settled(snapshot.id)
        return self._without_times(outcome), self._without_times(self.snapshots[-1]), settled

    def _without_times(self, outcome: object) -> object:
        """Moments become the number of the step in which they first appeared."""
        if not isinstance(outcome, Workspace):
            return outcome
        values = {field.name: getattr(outcome, field.name) for field in fields(outcome)}
        return {
            name: self._first_seen.setdefault(value, len(self.snapshots)) if isinstance(value, datetime) else value
            for name, value in values.items()
            if name not in ("owner_user_id", "id", "name")
        }


Act = Callable[[Life, Workspace], Awaitable[object]]


def _of(*values: st.SearchStrategy[Any]) -> Callable[[Callable[..., Act]], st.SearchStrategy[Act]]:
    """A kind of act, with its arguments drawn from `values`."""
    return lambda kind: st.tuples(*values).map(lambda drawn: kind(*drawn))


@_of(operations, phases, st.uuids(), st.booleans())
def claims(operation: Operation, phase: Phase, op_id: UUID, answers: bool) -> Act:
    step = FIRST_STEP[operation]
    return lambda life, row: life.controller.claim(
        row, Begin(operation, step, row.request if answers else None), op_id, phase
    )


@_of(st.sampled_from(Step))
def enters(step: Step) -> Act:
    return lambda life, row: life.controller.enter(row, step)


@_of(acts, st.booleans(), st.uuids(), st.integers(1, 9))
def acts_done(step: Step, with_archive: bool, archive_id: UUID, size: int) -> Act:
    async def act(life: Life, row: Workspace) -> object:
        archive = made(row, size, archive_id) if with_archive and row.archive_op_id else None
        return await life.controller.acted(row, row.op_step if row.op_step in AFTER_ACTION else step, archive)

    return act


@_of(phases, volumes, volumes)
def finishes(phase: Phase, home: str | None, left: str | None) -> Act:
    return lambda life, row: life.controller.finish(row, Finish(phase, home, left, row.archive_key))


@_of(phases)
def withdraws(phase: Phase) -> Act:
    return lambda life, row: life.controller.withdraw(row, Withdraw(Withdrawal.WISH_CHANGED), phase)


@_of(moments, acts)
def retries(at: datetime, step: Step) -> Act:
    return lambda life, row: life.controller.retry(row, Retry(at, step, BROKEN))


@_of(st.integers(1, 3))
def gives_up(count: int) -> Act:
    return lambda life, row: life.controller.give_up(row, GiveUp(BROKEN, count))


@_of(moments)
def dies(at: datetime) -> Act:
    return lambda life, row: life.controller.died(row, Died(at, (*row.recent_deaths, at)))


@_of(phases, volumes, st.booleans())
def answers(phase: Phase, home: str | None, done: bool) -> Act:
    async def act(life: Life, row: Workspace) -> object:
        asked = row.request or request()
        return await life.controller.answer(row, Answer(asked, home, asked.archive_key, done), phase)

    return act


@_of(st.just(None))
def dismisses(_: None) -> Act:
    return lambda life, row: life.controller.dismiss(row, Dismiss(row.request or request(), "no"))


@_of(phases)
def judges(phase: Phase) -> Act:
    return lambda life, row: life.controller.judged([Judged(row, phase)])


@_of(moments, st.sampled_from([None, "another key"]))
def observes(at: datetime, key: str | None) -> Act:
    return lambda life, row: life.observer.write_conditions(
        [Observed(row.id, Conditions(archive=archive_seen(key or row.archive_key, at=at)), at)]
    )


@_of(st.sampled_from([desired for desired in Desired if desired is not Desired.DELETED] * 3 + [Desired.DELETED]))
def wishes(desired: Desired) -> Act:
    return lambda life, row: life.backend.wish(row, desired)


@_of(st.sampled_from(RequestKind), st.uuids())
def asks(kind: RequestKind, request_id: UUID) -> Act:
    return lambda life, row: life.backend.place_request(row, replace(request(kind, "older"), id=request_id))


@_of(st.just(None))
def has_its_error_cleared(_: None) -> Act:
    return lambda life, row: life.backend.clear_error(row)


anything = st.one_of(
    claims, enters, acts_done, finishes, withdraws, retries, gives_up, dies, answers, dismisses, judges, observes,
    wishes, asks, has_its_error_cleared,
)  # fmt: skip
how_old = st.sampled_from([0, 0, 0, 0, 0, 1, 2])


async def begin(backend: Backend, workspace_id: UUID, lives: dict[str, Life]) -> Life:
    """A new workspace on the seats of the life before."""

    async def seat(role: str) -> Seat:
        return await backend.take(role, lease_seconds=PATIENCE_SECONDS)

    kind = type(backend).__name__
    first = await backend.create(Desired.RUNNING, workspace_id)
    before = lives.get(kind)
    lives[kind] = Life(
        backend,
        before.controller
        if before
        else backend.controller(await backend.take("controller", lease_seconds=PATIENCE_SECONDS)),
        before.observer if before else backend.observer(await seat("observer")),
        first,
    )
    return lives[kind]


@pytest.fixture
def lives() -> dict[str, Life]:
    """The lives lived last, by the name of their backend."""
    return {}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=st.lists(st.tuples(anything, how_old), min_size=5, max_size=25))
async def test_the_same_life_leaves_the_same_rows_and_history(
    postgres: PostgresBackend, memory: MemoryBackend, acts: list[tuple[Act, int]], lives: dict[str, Life]
) -> None:
    workspace_id = uuid4()
    real, twin = await begin(postgres, workspace_id, lives), await begin(memory, workspace_id, lives)
    for act, age in acts:
        assert await real.live(act, age) == await twin.live(act, age)
    assert await postgres.events(workspace_id) == await memory.events(workspace_id)
    assert await postgres.archives(workspace_id) == await memory.archives(workspace_id)
