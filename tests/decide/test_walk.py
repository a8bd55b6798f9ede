"""The exhaustive walk: from every world, wish, operation, step and memory, through every pattern of faults.

Every start settles at its wish or rests in a state that has an exit, nothing loops for ever, and at no transition is a
home lost: the world itself asserts that (`world.py`), as does the model of the store that no row breaks its
constraints (`transitions.py`). `pytest -s` shows how many worlds were walked."""

import gc
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain

import pytest

from codehub.decide.request import HOME_IS_LOST
from codehub.model.sightings import ArchiveState, ContainerState
from codehub.model.states import Desired, ErrorReason, Phase
from codehub.model.workspace import RequestKind, Workspace
from tests.decide.builders import OLDER_KEY, after, request
from tests.decide.canonical import State, canonical
from tests.decide.starts import misled, starts
from tests.decide.transitions import refused
from tests.decide.walk import Edge, calm_successor, successors
from tests.decide.world import Container, World

CHOICES = (
    request(RequestKind.RECOVER),
    request(RequestKind.START_EMPTY),
    request(RequestKind.RESTORE, OLDER_KEY),
)
"""What an owner can do about an ERROR, besides deleting."""


class Graph:
    """Every state that was reached, by number, and what follows from each."""

    def __init__(self, starts: Iterable[State]) -> None:
        self.number = {state: number for number, state in enumerate(dict.fromkeys(starts))}
        self.states = list(self.number)
        self.edges: list[list[tuple[Edge, int]]] = []
        for state in self.states:  # grows as it is walked
            self.edges.append([(kind, self._numbered(following)) for kind, following in successors(state)])

    def _numbered(self, state: State) -> int:
        number = self.number.setdefault(state, len(self.states))
        if number == len(self.states):
            self.states.append(state)
            assert not refused(state[0]), refused(state[0])
        return number

    def at_rest(self) -> Iterator[State]:
        for state, edges in zip(self.states, self.edges, strict=True):
            if not any(kind is Edge.CALM for kind, _ in edges):
                yield state

    def binding(self, number: int) -> Iterator[int]:
        """What follows without a fault, or with one that counts. A deletion is tried without end whatever fails."""
        deleted = self.states[number][0].deleted_at is not None
        kinds = (Edge.CALM,) if deleted else (Edge.CALM, Edge.FAULT)
        return (following for kind, following in self.edges[number] if kind in kinds)

    def calm_end(self, state: State) -> State:
        """Where it comes to rest when nothing more goes wrong."""
        for _ in range(100):
            number = self.number.get(state)
            following = calm_successor(state) if number is None else self._calm(number)
            if following is None:
                return state
            state = following
        raise AssertionError(f"it does not come to rest: {state}")

    def _calm(self, number: int) -> State | None:
        return next((self.states[following] for kind, following in self.edges[number] if kind is Edge.CALM), None)


@pytest.mark.timeout(300)  # the longest of these tests: they begin first
@pytest.mark.parametrize("desired", Desired)
def test_every_start_settles_or_rests_where_there_is_an_exit(
    desired: Desired, capsys: pytest.CaptureFixture[str]
) -> None:
    began = time.process_time()
    with _no_garbage_collection():
        begun = _corrected(desired)
        graph = Graph(chain(starts(desired), begun.values()))
        _assert_nothing_loops(graph)
        errors = {_kind_of_error(state) for state in graph.at_rest() if _rests_in_error(state)}
        for state in errors:
            _assert_has_an_exit(graph, state)
    seconds = time.process_time() - began
    transitions = len(begun) + sum(map(len, graph.edges))
    with capsys.disabled():
        print(  # noqa: T201 - the figure is asked for
            f"\n{desired}: {len(begun) + len(graph.states):,} worlds walked over {transitions:,} transitions, "
            f"{len(errors):,} kinds of ERROR left by an exit, in {seconds:.1f} s of processor time"
        )


def _corrected(desired: Desired) -> dict[State, State]:
    """Rows that believe what is not so, and what the first whole look and pass make of them."""
    return {state: following for state in misled(desired) if (following := calm_successor(state)) is not None}


def _assert_nothing_loops(graph: Graph) -> None:
    finished: set[int] = set()
    for start in range(len(graph.states)):
        path = {start: graph.binding(start)}
        while path:
            here = next(reversed(path))
            following = next((each for each in path[here] if each not in finished), None)
            if following is None:
                finished.add(here)
                del path[here]
            else:
                assert following not in path, f"it comes back to {graph.states[following]}"
                path[following] = graph.binding(following)


def _is_settled(row: Workspace, world: World) -> bool:
    """Whether the world is what was wished."""
    if world.late is not None:
        return False
    home, container = world.volume(row.home_volume), world.container
    archive = world.archive(row.archive_key)
    match row.desired_state:
        case Desired.RUNNING:
            return home is not None and container == Container(ContainerState.READY, row.home_volume or "")
        case Desired.STANDBY:
            return home is not None and container is None
        case Desired.ARCHIVED:
            whole = archive is not None and archive.state is ArchiveState.WHOLE
            return whole and row.home_volume is None and container is None
        case Desired.DELETED:
            return container is None and world.volume(row.current_volume) is None


def _rests_in_error(state: State) -> bool:
    """Whether it rests in ERROR. Everything else that rests is what was wished."""
    row, world = state
    if row.phase is Phase.ERROR:
        home_is_there = world.volume(row.home_volume) is not None
        alive = [each for _, each in world.containers if each.state is not ContainerState.EXITED]
        assert not (home_is_there and alive and world.late), "two containers of one home (contract 6)"
        return True
    assert row.phase.value == row.desired_state.value, f"{row.phase} is not {row.desired_state}"
    assert _is_settled(row, world), f"{row.phase} is not what the world is: {world}"
    return False


def _kind_of_error(state: State) -> State:
    """Errors with the same exits are one kind."""
    row, world = state
    lost = row.error_reason in HOME_IS_LOST
    return replace(row, error_reason=ErrorReason.DATA_LOST if lost else ErrorReason.TIMEOUT), world


def _assert_has_an_exit(graph: Graph, state: State) -> None:
    row, world = state
    deleted = replace(row, desired_state=Desired.DELETED, deleted_at=after(-60))
    end, left = graph.calm_end(canonical(deleted, world))
    assert end.phase is Phase.DELETED
    assert _is_settled(end, left)
    assert _leads_home(graph, state, choices=2), f"no choice of its owner leads out of {state}"


def _leads_home(graph: Graph, state: State, choices: int) -> bool:
    """Whether so many choices of the owner are enough; each leads to some rest."""
    row, world = state
    ends = [graph.calm_end((replace(row, request=choice), world)) for choice in CHOICES]
    return any(end.phase is not Phase.ERROR for end, _ in ends) or (
        choices > 1 and any(_leads_home(graph, end, choices - 1) for end in ends if end != state)
    )


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """A million small objects, none of them garbage, would be looked through again and again."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
