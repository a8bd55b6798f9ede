"""The exhaustive walk: from every world, wish, operation, step and memory, through every pattern of faults.

Every start settles at its wish or rests in a state that has an exit, nothing loops for ever, and at no transition is a
home lost: the world itself asserts that (`world.py`), as does the model of the store that no row breaks its
constraints (`transitions.py`). `pytest -s` shows how many worlds were walked."""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from tests.decide.builders import OLDER_KEY, after, request
from tests.decide.starts import misled, starts
from tests.decide.walk import Edge, State, Successor, calm_successor, canonical, successors
from tests.decide.world import Container, World

from codehub.decide.request import HOME_IS_LOST
from codehub.model.sightings import ArchiveState, ContainerState
from codehub.model.states import Desired, ErrorReason, Phase
from codehub.model.workspace import RequestKind, Workspace

Graph = dict[State, tuple[Successor, ...]]

CHOICES = (
    request(RequestKind.RECOVER),
    request(RequestKind.START_EMPTY),
    request(RequestKind.RESTORE, OLDER_KEY),
)
"""What an owner can do about an ERROR, besides deleting."""


@pytest.mark.parametrize("desired", Desired)
def test_every_start_settles_or_rests_where_there_is_an_exit(
    desired: Desired, capsys: pytest.CaptureFixture[str]
) -> None:
    began = time.process_time()
    with _no_garbage_collection():
        begun = _corrected(desired)
        graph = _explored({*starts(desired), *begun.values()})
        _assert_nothing_loops(graph)
        errors = {_kind_of_error(state) for state in graph if _assert_settled_if_at_rest(graph, state)}
        for state in errors:
            _assert_has_an_exit(graph, state)
    seconds = time.process_time() - began
    transitions = len(begun) + sum(map(len, graph.values()))
    with capsys.disabled():
        print(  # noqa: T201 - the figure is asked for
            f"\n{desired}: {len(begun) + len(graph):,} worlds walked over {transitions:,} transitions, "
            f"{len(errors):,} kinds of ERROR left by an exit, in {seconds:.1f} s of processor time"
        )


def _corrected(desired: Desired) -> dict[State, State]:
    """Rows that believe what is not so, and what the first whole look and pass make of them."""
    return {state: following for state in misled(desired) if (following := calm_successor(state)) is not None}


def _explored(states: set[State]) -> Graph:
    graph: Graph = {}
    ahead = list(states)
    while ahead:
        state = ahead.pop()
        if state not in graph:
            graph[state] = tuple(successors(state))
            ahead.extend(following for _, following in graph[state] if following not in graph)
    return graph


def _assert_nothing_loops(graph: Graph) -> None:
    """No cycle without a fault, and none with faults that count, except that a deletion is tried without end."""
    finished: set[State] = set()
    for start in graph:
        path: dict[State, Iterator[State]] = {start: _binding(graph, start)}
        while path:
            state = next(reversed(path))
            following = next((each for each in path[state] if each not in finished), None)
            if following is None:
                finished.add(state)
                del path[state]
            else:
                assert following not in path, f"it comes back to {following}"
                path[following] = _binding(graph, following)


def _binding(graph: Graph, state: State) -> Iterator[State]:
    kinds = (Edge.CALM,) if state[0].deleted_at is not None else (Edge.CALM, Edge.FAULT)
    return (following for kind, following in graph[state] if kind in kinds)


def _is_at_rest(graph: Graph, state: State) -> bool:
    return all(kind is not Edge.CALM for kind, _ in graph[state])


def _is_settled(row: Workspace, world: World) -> bool:
    """Whether the world is what was wished."""
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


def _assert_settled_if_at_rest(graph: Graph, state: State) -> bool:
    """Whether it rests in ERROR instead."""
    row, world = state
    if not _is_at_rest(graph, state) or row.phase is Phase.ERROR:
        return row.phase is Phase.ERROR and _is_at_rest(graph, state)
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
    end, left = _calm_end(graph, canonical(deleted, world))
    assert end.phase is Phase.DELETED
    assert _is_settled(end, left)
    assert _leads_home(graph, state, choices=2), f"no choice of its owner leads out of {state}"


def _leads_home(graph: Graph, state: State, choices: int) -> bool:
    """Whether so many choices of the owner are enough; each leads to some rest."""
    row, world = state
    ends = [_calm_end(graph, (replace(row, request=choice), world)) for choice in CHOICES]
    return any(end.phase is not Phase.ERROR for end, _ in ends) or (
        choices > 1 and any(_leads_home(graph, end, choices - 1) for end in ends if end != state)
    )


def _calm_end(graph: Graph, state: State) -> State:
    seen = set()
    while state not in seen:
        seen.add(state)
        following = calm_successor(state) if state not in graph else _calm_edge(graph[state])
        if following is None:
            return state
        state = following
    raise AssertionError(f"it comes back to {state}")


def _calm_edge(edges: tuple[Successor, ...]) -> State | None:
    return next((following for kind, following in edges if kind is Edge.CALM), None)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """A million small objects, none of them garbage, would be looked through again and again."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
