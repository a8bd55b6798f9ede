"""Where the walk begins: every world, wish, operation with each of its steps, memory, and what the row believes."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from codehub.model.conditions import Condition, Conditions, Reason, Status
from codehub.model.sightings import ArchiveState, ContainerState
from codehub.model.states import Desired, ErrorReason, Operation, Phase, Step
from codehub.model.workspace import RequestKind, Workspace
from tests.decide.builders import (
    ARCHIVE_OP_ID,
    HOME,
    KEY,
    MADE,
    OLDER_KEY,
    condition,
    request,
    under_way,
    workspace,
)
from tests.decide.canonical import ACTED, FORMER_KEY, LOOKED, OLDER, STALE, State, canonical
from tests.decide.transitions import MAKES_AN_ARCHIVE, refused
from tests.decide.walk import seen_whole
from tests.decide.world import Archive, Container, Content, World

STEPS = {
    Operation.PROVISIONING: (Step.CREATE, Step.CREATED),
    Operation.RESTORING: (Step.RESTORE, Step.RESTORED),
    Operation.STARTING: (Step.PULL, Step.START, Step.STARTED),
    Operation.STOPPING: (Step.STOP, Step.STOPPED),
    Operation.ARCHIVING: (Step.ARCHIVE, Step.VERIFY, Step.VERIFIED, Step.RELEASE, Step.RELEASED),
    Operation.CREATE_EMPTY_ARCHIVE: (Step.UPLOAD, Step.UPLOADED),
    Operation.DELETING: (Step.DELETE, Step.REMOVED),
}
MADE_WHOLE = {Step.RESTORED: Content.LIVE, Step.RELEASE: Content.LIVE, Step.RELEASED: Content.LIVE}

CONTAINERS = (
    None,
    *(Container(state, "current") for state in ContainerState if state is not ContainerState.STARTING),
    Container(ContainerState.READY, OLDER),
)
MEMORIES = tuple(
    (home, made, key) for home, made in ((None, None), (HOME, None), (None, MADE)) for key in (None, FORMER_KEY, KEY)
)
WHOLE = Archive(ArchiveState.WHOLE, Content.LIVE)
ARCHIVES = (
    None,
    WHOLE,
    Archive(ArchiveState.MISSING, Content.HALF),
    Archive(ArchiveState.MISMATCH, Content.HALF),
)
REQUESTS = (
    request(RequestKind.RESTORE, OLDER_KEY),  # the only one that also bears on an operation under way
    request(RequestKind.RECOVER),
    request(RequestKind.RESTORE),
    request(RequestKind.START_EMPTY),
    request(RequestKind.FORK, OLDER_KEY),
)


def starts(desired: Desired) -> Iterator[State]:
    """Rows that know what is so, with every memory of faults and every request."""
    for row, world in _rows_and_worlds(desired):
        yield row, world
        yield from ((each, world) for each in _memories(row) if not refused(each))


def misled(desired: Desired) -> Iterator[State]:
    """Rows that believe what is not so, until the first whole look."""
    for row, world in _rows_and_worlds(desired):
        yield from ((replace(row, conditions=believed), world) for believed in _beliefs(row.conditions))


def _rows_and_worlds(desired: Desired) -> Iterator[State]:
    steps = [(Operation.NONE, None), *((operation, step) for operation in STEPS for step in STEPS[operation])]
    for (operation, step), (home, made, key) in product(steps, MEMORIES):
        row = workspace(desired_state=desired, home_volume=home, op_volume=made, archive_key=key, acted_at=ACTED)
        if step is not None:
            named = ARCHIVE_OP_ID if operation in MAKES_AN_ARCHIVE else None
            row = under_way(row, operation, step, archive_op_id=named)
        if refused(row) or (key == KEY and operation not in MAKES_AN_ARCHIVE):
            continue
        for container, there, archive in product(CONTAINERS, (True, False), ARCHIVES):
            if _is_possible(row, archive) and (there or row.current_volume):
                world = _world(row, container, archive, there=there)
                yield canonical(seen_whole(row, world), world, judged=True)


def _is_possible(row: Workspace, archive: Archive | None) -> bool:
    """An archive that nobody names is not there. Beside a home, an operation that makes none passes it by."""
    if row.operation in MAKES_AN_ARCHIVE:
        return True
    if row.archive_key is None:
        return archive is None
    if row.home_volume is None:
        return True
    return archive == WHOLE or (row.operation is Operation.NONE and archive is None)


def _world(row: Workspace, container: Container | None, archive: Archive | None, *, there: bool) -> World:
    name = row.current_volume
    content = Content.LIVE if row.home_volume else MADE_WHOLE.get(row.op_step or Step.CREATE, Content.HALF)
    volumes = ((name, content),) if name and there else ()
    if container is not None:
        on = name if container.volume == "current" and name else OLDER
        container = replace(container, volume=on)
        volumes = (*volumes, (OLDER, Content.OLD)) if on == OLDER else volumes
    key = KEY if row.operation in MAKES_AN_ARCHIVE else row.archive_key
    empty = row.operation in (Operation.PROVISIONING, Operation.CREATE_EMPTY_ARCHIVE)
    return World(
        container=container,
        volumes=volumes,
        archives=((key, archive),) if key and archive else (),
        had_home=not empty and (row.home_volume or row.archive_key) is not None,
    )


def _beliefs(right: Conditions) -> Iterator[Conditions]:
    """What a row may believe wrongly: nothing yet; what was so of another thing, is uncertain, or was so before the
    last act; and the contrary of what is so."""
    yield Conditions()
    yield _each(right, lambda name, was: replace(was, **_DOUBTFUL[name]))
    yield _each(right, _contrary)


_DOUBTFUL: dict[str, dict[str, Any]] = {
    "volume": {"subject": OLDER},
    "archive": {"status": Status.UNKNOWN},
    "container": {"observed_from": STALE, "last_transition_time": STALE},
}


def _each(conditions: Conditions, change: Callable[[str, Condition], Condition]) -> Conditions:
    changed = {name: change(name, getattr(conditions, name)) for name in ("volume", "archive", "container")}
    return replace(conditions, **changed)


_CONTRARY = {
    "volume": (Reason.VOLUME_NOT_FOUND, Reason.VOLUME_PROVISIONED),
    "archive": (Reason.ARCHIVE_MISSING, Reason.ARCHIVE_UPLOADED),
    "container": (Reason.CONTAINER_NOT_FOUND, Reason.CONTAINER_RUNNING),
}


def _contrary(name: str, was: Condition) -> Condition:
    reason = _CONTRARY[name][was.status is Status.FALSE]
    return condition(reason, was.subject, at=LOOKED, since=STALE)


def _memories(row: Workspace) -> Iterator[Workspace]:
    if row.home_volume is not None:
        yield replace(row, phase=Phase.RUNNING)
    if row.deleted_at is None:
        yield replace(row, error_reason=ErrorReason.ACTION_FAILED, error_count=2)
        if row.operation is Operation.NONE:
            yield from (replace(row, request=asked) for asked in REQUESTS)
            yield from (replace(row, phase=Phase.ERROR, error_reason=each, error_count=3) for each in ErrorReason)
        elif row.desired_state is Desired.RUNNING:
            yield replace(row, request=REQUESTS[0])
