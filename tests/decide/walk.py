"""All that can follow from a state of row and world: one pass of looking, planning and acting at a time, with every
fault that can meet it."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from enum import Enum
from functools import cache
from typing import NamedTuple, assert_never, cast
from uuid import UUID

from codehub.decide.judge import judge
from codehub.decide.observe import observe, worth_writing
from codehub.decide.plan import Acting, plan
from codehub.decide.retry import after_failure
from codehub.decide.steps import NEEDS
from codehub.model.conditions import Conditions
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
    Waiting,
    WaitUntil,
    Withdraw,
)
from codehub.model.sightings import ArchiveState, ContainerState, Sighting
from codehub.model.states import LEVEL, ErrorReason, Operation, Service, Step
from codehub.model.workspace import RequestKind, Workspace
from tests.decide import transitions
from tests.decide.builders import (
    POLICY,
    T0,
    after,
    circumstances,
)
from tests.decide.canonical import State, canonical, canonical_conditions
from tests.decide.replaced import replaced
from tests.decide.world import EFFECT, Archive, Container, Content, World, half, look, thinned_out

NEW_OP_ID = UUID(int=9)
CALM = circumstances(T0)
AWAY = {service: circumstances(T0, away=service) for service in Service}
END_OF_ACT = after(1)
RANK = sorted(LEVEL, key=lambda phase: LEVEL[phase])


class Edge(Enum):
    CALM = "nothing goes wrong"
    FAULT = "a fault that counts"
    EXCUSED = "a fault that may last as long as it likes: a listing, a service or a leader is gone"


Successor = tuple[Edge, State]


def successors(state: State) -> Iterator[Successor]:
    """The calm one first. None at all: the state is at rest."""
    row, world = state
    settled = _with_ready_container(world)
    seen = seen_whole(row, settled)
    planned = plan(seen, CALM)
    calm = _or_time_passes(state, (seen, settled), planned)
    if calm is not None:
        yield Edge.CALM, calm
    yield from _container_faults(state)
    yield from _late_start(state)
    yield from _blind_passes(row, settled, knows=_believes_the_same(row, seen))
    if isinstance(planned, Continue) and planned.step is seen.op_step:
        yield from _failed_acts(seen, settled, planned.step)


def calm_successor(state: State) -> State | None:
    row, world = state
    settled = _with_ready_container(world)
    seen = seen_whole(row, settled)
    return _or_time_passes(state, (seen, settled), plan(seen, CALM))


def _or_time_passes(state: State, passed: State, planned: Plan) -> State | None:
    """The state after this pass. Where the pass changed nothing, the next thing that happens is what it waits for."""
    row, world = passed
    following = carried_out(row, world, planned, T0)
    if following != state:
        return following
    match planned:
        case Rest():
            return None
        case WaitUntil(at, Waiting.RETRY) if at is not None:
            return canonical(replaced(row, next_attempt_at=None), world)
        case WaitUntil(at) if at is not None:
            late = plan(row, circumstances(at))
            assert not isinstance(late, WaitUntil), f"it waits on: {late}"
            return carried_out(row, world, late, at)
    raise AssertionError(f"it does not move: {planned} in {row} {world}")


def _container_faults(state: State) -> Iterator[Successor]:
    row, world = state
    container = world.container
    if container is None or container.state not in (ContainerState.STARTING, ContainerState.READY):
        return
    ended = replace(world, container=replace(container, state=ContainerState.EXITED))
    seen = seen_whole(row, ended)
    yield Edge.FAULT, carried_out(seen, ended, plan(seen, CALM), T0)
    if container.state is ContainerState.STARTING:  # it is slow, or never gets there
        seen = seen_whole(row, world)
        following = _or_time_passes(state, (seen, world), plan(seen, CALM))
        if following is not None:
            yield Edge.FAULT, following


def _late_start(state: State) -> Iterator[Successor]:
    """A start of a deposed leader arrives beside the container of its successor (contract 6)."""
    row, world = state
    if world.container is None or world.late is not None or row.deleted_at is not None:
        return
    if row.home_volume is not None and world.volume(row.home_volume) is not None:
        yield Edge.EXCUSED, canonical(row, replace(world, late=Container(ContainerState.READY, row.home_volume)))


def _blind_passes(row: Workspace, world: World, *, knows: bool) -> Iterator[Successor]:
    """Passes that see only a part, or decide while a service is away. A row that knows what is so already loses nothing
    by a listing that fails."""
    for service in Service:
        planned = plan(row, AWAY[service])
        if not isinstance(planned, WaitUntil | Rest):
            yield Edge.EXCUSED, carried_out(row, world, planned, T0)
    if knows:
        return
    whole = look(world, row, T0)
    for part in (replace(whole, containers=None), replace(whole, volumes=None)):
        seen = seen_by(row, part)
        yield Edge.EXCUSED, carried_out(seen, world, plan(seen, CALM), T0)


def _believes_the_same(row: Workspace, seen: Workspace) -> bool:
    return canonical_conditions(seen) == row.conditions


_OWN_FAULTS = {
    Step.PULL: ErrorReason.IMAGE_PULL_FAILED,
    Step.RESTORE: ErrorReason.ARCHIVE_CORRUPTED,
    Step.VERIFY: ErrorReason.ARCHIVE_CORRUPTED,
}


def _failed_acts(row: Workspace, world: World, step: Step) -> Iterator[Successor]:
    done = EFFECT[step](world, row)
    broken_off = world if done is None else half(step, world, done, row)
    failed = Fault(ErrorReason.ACTION_FAILED, "it failed")
    for left in dict.fromkeys((world, broken_off)):
        yield Edge.FAULT, _failed(row, left, step, failed)
    for left in dict.fromkeys((world, done or world)):
        yield Edge.FAULT, _never_returned(row, left)
    yield Edge.EXCUSED, canonical(row, done or world)  # the leader died after the act and before it was recorded
    yield Edge.EXCUSED, _failed(row, broken_off, step, Fault(ErrorReason.UNREACHABLE, "away", NEEDS[step][0]))
    if step in _OWN_FAULTS:
        yield Edge.FAULT, _failed(row, broken_off, step, Fault(_OWN_FAULTS[step], "it is broken"))


def _never_returned(row: Workspace, world: World) -> State:
    waiting = plan(row, circumstances(T0, acting=Acting.BUSY))
    assert isinstance(waiting, WaitUntil)
    assert waiting.at is not None
    return carried_out(row, world, plan(row, circumstances(waiting.at, acting=Acting.BUSY)), waiting.at)


def _failed(row: Workspace, world: World, step: Step, fault: Fault) -> State:
    outcome = after_failure(row, step, fault, T0, POLICY, 0.5)
    if isinstance(outcome, WaitUntil):
        return canonical(replaced(row, acted_at=END_OF_ACT), world)
    return carried_out(row, world, outcome, END_OF_ACT)


def seen_whole(row: Workspace, world: World) -> Workspace:
    return seen_by(row, look(world, row, T0))


def seen_by(row: Workspace, sighting: Sighting) -> Workspace:
    known = Known(
        row.conditions,
        row.home_volume,
        row.op_volume,
        row.archive_key,
        row.deleted_at,
        row.operation,
        row.op_step,
        row.acted_at,
    )
    conditions = _written(known, sighting)
    return row if conditions is None else replaced(row, conditions=conditions)


class Known(NamedTuple):
    """All that an observation may read of a row: anything else that it asked for would be missing here, and fail."""

    conditions: Conditions
    home_volume: str | None
    op_volume: str | None
    archive_key: str | None
    deleted_at: datetime | None
    operation: Operation
    op_step: Step | None
    acted_at: datetime | None

    @property
    def current_volume(self) -> str | None:
        return self.home_volume or self.op_volume


@cache  # rows that differ in their memory of faults and wishes see the same
def _written(known: Known, sighting: Sighting) -> Conditions | None:
    """What this look leads to in the row, if it is worth a write."""
    row = cast("Workspace", known)
    conditions = observe(row, sighting)
    return conditions if worth_writing(row, conditions) else None


def carried_out(row: Workspace, world: World, planned: Plan, now: datetime) -> State:
    """The state once the plan has been stored and its act, if it has one, has succeeded."""
    match planned:
        case Rest() | WaitUntil():
            following = row
        case Begin():
            following = transitions.claim(row, planned, NEW_OP_ID, now)
        case Continue(step):
            return _acted(row, world, step)
        case Finish():
            following = transitions.finish(row, planned)
            assert planned.phase is judge(following, POLICY.max_retries), "another phase follows than was stored"
            world = _finished(row, world, planned)
        case Withdraw():
            following = transitions.withdraw(row, END_OF_ACT)
        case Retry():
            following = transitions.retry(row, planned, END_OF_ACT)
        case GiveUp():
            following = transitions.give_up(row, planned, END_OF_ACT)
        case Died():
            following = transitions.died(row, planned)
        case Answer():
            following = transitions.answered(row, planned)
            world = _by_the_owners_word(row, world, planned)
        case Dismiss():
            following = transitions.dismissed(row, planned)
        case RemoveSurplus(container_ids):
            following = transitions.thinned_out(row, END_OF_ACT)
            world = thinned_out(world, container_ids)
        case _:
            assert_never(planned)
    return canonical(following, world, judged=not isinstance(planned, Finish | Retry | GiveUp | Died | Dismiss))


def _acted(row: Workspace, world: World, step: Step) -> State:
    if step is not row.op_step:
        assert not world.containers, "the home is let go of under its container"
        return canonical(transitions.enter(row, step), world)
    done = EFFECT[step](world, row)
    if done is None:
        return _failed(row, world, step, Fault(ErrorReason.ACTION_FAILED, "the world does not let it"))
    assert row.deleted_at is not None or world.copies == 0 or done.copies > 0, f"'{step}' took the last copy"
    return canonical(transitions.acted(row, step, END_OF_ACT), done)


def _finished(row: Workspace, world: World, planned: Finish) -> World:
    """What becomes the home must be the home (contract 7), and lie one rung further (contract 5)."""
    before = judge(row, POLICY.max_retries)
    if before in LEVEL and planned.phase in LEVEL and row.operation is not Operation.PROVISIONING:
        assert abs(RANK.index(before) - RANK.index(planned.phase)) <= 1, f"from {before} to {planned.phase}"
    if row.operation is Operation.PROVISIONING:
        assert not world.had_home, "an empty volume becomes the home where a home had been"
        return replace(world.with_volume(row.op_volume, Content.LIVE), had_home=True)
    if row.operation is Operation.CREATE_EMPTY_ARCHIVE:
        return replace(world, had_home=True)
    if row.operation is Operation.RESTORING and row.deleted_at is None:
        assert world.volume(row.op_volume) is Content.LIVE, "what was restored is not the home"
    return world


def _by_the_owners_word(row: Workspace, world: World, planned: Answer) -> World:
    """Only the owner's choice makes another content the home, and never while the present one is there."""
    if planned.request.kind is RequestKind.RECOVER or not planned.done:
        assert (planned.home_volume, planned.archive_key) == (row.home_volume, row.archive_key)
        return world
    assert world.volume(row.home_volume) is None, "a home that is there is given up"
    volumes = tuple((name, Content.OLD) for name, _ in world.volumes)
    if planned.archive_key is None:
        return replace(world, volumes=volumes, archives=(), had_home=False)
    chosen = Archive(ArchiveState.WHOLE, Content.LIVE)
    return replace(world, volumes=volumes, archives=((planned.archive_key, chosen),), had_home=True)


def _with_ready_container(world: World) -> World:
    container = world.container
    if container is None or container.state is not ContainerState.STARTING:
        return world
    return replace(world, container=replace(container, state=ContainerState.READY))
