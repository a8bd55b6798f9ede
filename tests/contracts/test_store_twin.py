"""The twin is PostgreSQL's equal: the same random life, lived on both, leaves the same rows and the same history.

What each transition must do is said by the other suites; here nobody says it, and the two must still agree, on
snapshots that are current as well as on old ones."""

from collections.abc import Awaitable, Callable
from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4, uuid5

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codehub import clock
from codehub.decide.steps import AFTER_ACTION, FIRST_STEP
from codehub.model.conditions import Conditions
from codehub.model.plans import Answer, Begin, Died, Dismiss, Finish, GiveUp, Retry, Withdraw, Withdrawal
from codehub.model.shown import Restorable, ShownArchive, ShownWorkspace
from codehub.model.states import Desired, Operation, Phase, Step
from codehub.model.workspace import RequestKind, Workspace
from codehub.store.protocols import ControllerStore, Judged, Observed, ObserverStore, Seat
from tests.contracts.store_backends import AHEAD, Backend, MemoryBackend, PostgresBackend
from tests.contracts.store_ear import Ear
from tests.contracts.store_lives import BROKEN, made, request
from tests.decide.builders import archive_seen

NOW = clock.now() + AHEAD
PATIENCE_SECONDS = 600  # the seats outlast the search for a shorter example
operations = st.sampled_from([operation for operation in Operation if operation is not Operation.NONE])
phases = st.sampled_from(Phase)
acts = st.sampled_from(sorted(AFTER_ACTION))
moments = st.integers(0, 20).map(lambda seconds: NOW + timedelta(seconds=seconds))
volumes = st.sampled_from([None, "a volume"])


class Stage:
    """One backend, with the seats that its lives are lived on."""

    def __init__(self, backend: Backend, controller: ControllerStore, observer: ObserverStore, ear: Ear) -> None:
        self.backend, self.controller, self.observer, self.ear = backend, controller, observer, ear

    @classmethod
    async def of(cls, backend: Backend) -> "Stage":
        async def seat(role: str) -> Seat:
            return await backend.take(role, lease_seconds=PATIENCE_SECONDS)

        listener = await seat("listener")
        ear = Ear(listener, backend.feed(listener))
        await ear.listen()
        return cls(backend, backend.controller(await seat("controller")), backend.observer(await seat("observer")), ear)


class Life:
    """One workspace on a stage, and every snapshot of it that was ever read."""

    def __init__(self, stage: Stage, first: Workspace) -> None:
        self.stage = stage
        self.snapshots = [first]
        self._first_seen: dict[datetime, int] = {}

    async def live(self, act: "Act", how_old: int) -> object:
        """Act on a snapshot of some age; what came of it, in words that both backends share."""
        snapshot = self.snapshots[-1 - how_old % len(self.snapshots)]
        backend, ear = self.stage.backend, self.stage.ear
        try:
            outcome = await act(self.stage, snapshot)
        except backend.refused:
            outcome = "refused"
        self.snapshots.append(await backend.row(snapshot.id))
        return (
            self._without_times(outcome),
            self._without_times(self.snapshots[-1]),
            await backend.is_settled(snapshot.id),
            [self._without_times(shown) for shown in await ear.feed.shown([snapshot.id])],
            [notice.channel for notice in await ear.heard()],
        )

    def _without_times(self, outcome: object) -> object:
        """Moments become the number of the step in which they first appeared."""
        if isinstance(outcome, datetime):
            return self._first_seen.setdefault(outcome, len(self.snapshots))
        if not isinstance(outcome, Workspace | ShownWorkspace | ShownArchive | Restorable):
            return outcome
        return {
            field.name: self._without_times(getattr(outcome, field.name))
            for field in fields(outcome)
            if field.name not in ("owner_user_id", "owner_login", "updated_at")
        }


Act = Callable[[Stage, Workspace], Awaitable[object]]


def _of(*values: st.SearchStrategy[Any]) -> Callable[[Callable[..., Act]], st.SearchStrategy[Act]]:
    """A kind of act, with its arguments drawn from `values`."""
    return lambda kind: st.tuples(*values).map(lambda drawn: kind(*drawn))


@_of(operations, phases, st.uuids(), st.booleans())
def claims(operation: Operation, phase: Phase, op_id: UUID, answers: bool) -> Act:
    step = FIRST_STEP[operation]
    return lambda stage, row: stage.controller.claim(
        row, Begin(operation, step, row.request if answers else None), op_id, phase
    )


@_of(st.sampled_from(Step))
def enters(step: Step) -> Act:
    return lambda stage, row: stage.controller.enter(row, step)


@_of(acts, st.booleans(), st.uuids(), st.integers(1, 9))
def acts_done(step: Step, with_archive: bool, archive_id: UUID, size: int) -> Act:
    async def act(stage: Stage, row: Workspace) -> object:
        its_own = uuid5(row.id, f"{row.archive_op_id} {archive_id}")  # as any two archives have different ids
        archive = made(row, size, its_own) if with_archive and row.archive_op_id else None
        return await stage.controller.acted(row, row.op_step if row.op_step in AFTER_ACTION else step, archive)

    return act


@_of(phases, volumes, volumes)
def finishes(phase: Phase, home: str | None, left: str | None) -> Act:
    return lambda stage, row: stage.controller.finish(row, Finish(phase, home, left, row.archive_key))


@_of(phases)
def withdraws(phase: Phase) -> Act:
    return lambda stage, row: stage.controller.withdraw(row, Withdraw(Withdrawal.WISH_CHANGED), phase)


@_of(moments, acts)
def retries(at: datetime, step: Step) -> Act:
    return lambda stage, row: stage.controller.retry(row, Retry(at, step, BROKEN))


@_of(st.integers(1, 3))
def gives_up(count: int) -> Act:
    return lambda stage, row: stage.controller.give_up(row, GiveUp(BROKEN, count))


@_of(moments)
def dies(at: datetime) -> Act:
    return lambda stage, row: stage.controller.died(row, Died(at, (*row.recent_deaths, at)))


@_of(phases, volumes, st.booleans())
def answers(phase: Phase, home: str | None, done: bool) -> Act:
    async def act(stage: Stage, row: Workspace) -> object:
        asked = row.request or request()
        return await stage.controller.answer(row, Answer(asked, home, asked.archive_key, done), phase)

    return act


@_of(st.just(None))
def dismisses(_: None) -> Act:
    return lambda stage, row: stage.controller.dismiss(row, Dismiss(row.request or request(), "no"))


@_of(phases)
def judges(phase: Phase) -> Act:
    return lambda stage, row: stage.controller.judged([Judged(row, phase)])


@_of(moments, st.sampled_from([None, "another key"]))
def observes(at: datetime, key: str | None) -> Act:
    return lambda stage, row: stage.observer.write_conditions(
        [Observed(row.id, Conditions(archive=archive_seen(key or row.archive_key, at=at)), at)]
    )


@_of(st.sampled_from([desired for desired in Desired if desired is not Desired.DELETED] * 3 + [Desired.DELETED]))
def wishes(desired: Desired) -> Act:
    return lambda stage, row: stage.backend.wish(row, desired)


@_of(st.sampled_from(RequestKind), st.uuids())
def asks(kind: RequestKind, request_id: UUID) -> Act:
    return lambda stage, row: stage.backend.place_request(row, replace(request(kind, "older"), id=request_id))


@_of(st.just(None))
def has_its_error_cleared(_: None) -> Act:
    return lambda stage, row: stage.backend.clear_error(row)


anything = st.one_of(
    claims, enters, acts_done, finishes, withdraws, retries, gives_up, dies, answers, dismisses, judges, observes,
    wishes, asks, has_its_error_cleared,
)  # fmt: skip
how_old = st.sampled_from([0, 0, 0, 0, 0, 1, 2])


@pytest.fixture
async def stages(postgres: PostgresBackend, memory: MemoryBackend) -> list[Stage]:
    return [await Stage.of(postgres), await Stage.of(memory)]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=st.lists(st.tuples(anything, how_old), min_size=5, max_size=25))
async def test_the_same_life_leaves_the_same_rows_and_history(stages: list[Stage], acts: list[tuple[Act, int]]) -> None:
    workspace_id = uuid4()
    real, twin = [Life(stage, await stage.backend.create(Desired.RUNNING, workspace_id)) for stage in stages]
    for act, age in acts:
        assert await real.live(act, age) == await twin.live(act, age)
    history = [await stage.backend.events(workspace_id) for stage in stages]
    assert history[0] == history[1]
    archives = [await stage.backend.archives(workspace_id) for stage in stages]
    assert archives[0] == archives[1]
