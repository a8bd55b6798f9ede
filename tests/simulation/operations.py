"""Every operation, from an installation at rest to its end, with what goes wrong at some of its steps."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from random import Random
from uuid import UUID

from codehub.model.states import Desired
from tests.simulation.afresh import differences, made_anew
from tests.simulation.faults import Case, Fault
from tests.simulation.silence import forget_worlds, unforeseen
from tests.simulation.world import World, copy_state

WORKSPACE = UUID(int=0x100)


@dataclass(frozen=True)
class Operation:
    way: tuple[Desired, ...]
    """Through which wishes its beginning is reached."""
    wish: Desired
    other: Desired
    """What the owner wishes instead, when they change their mind."""
    collected: bool = False
    """Whether the collector is at work, too."""
    left: bool = False
    """Whether somebody works there for a while and leaves it to fall asleep. Their mind is changed by coming back."""


OPERATIONS = {
    "create": Operation((), Desired.RUNNING, Desired.STANDBY),
    "stop": Operation((Desired.RUNNING,), Desired.STANDBY, Desired.RUNNING),
    "archive": Operation((Desired.RUNNING, Desired.STANDBY), Desired.ARCHIVED, Desired.RUNNING),
    "archive_or_wait": Operation((Desired.RUNNING, Desired.STANDBY), Desired.ARCHIVED, Desired.STANDBY),
    "restore": Operation((Desired.RUNNING, Desired.ARCHIVED), Desired.RUNNING, Desired.ARCHIVED),
    "delete": Operation((Desired.RUNNING,), Desired.DELETED, Desired.DELETED),
    "empty": Operation((), Desired.ARCHIVED, Desired.RUNNING),
    "collect": Operation((Desired.RUNNING, Desired.ARCHIVED) * 2, Desired.RUNNING, Desired.ARCHIVED, collected=True),
    "collect_deleted": Operation((Desired.RUNNING, Desired.ARCHIVED), Desired.DELETED, Desired.DELETED, collected=True),
    "create_or_delete": Operation((), Desired.RUNNING, Desired.DELETED),
    "empty_or_delete": Operation((), Desired.ARCHIVED, Desired.DELETED),
    "archive_or_delete": Operation((Desired.RUNNING, Desired.STANDBY), Desired.ARCHIVED, Desired.DELETED),
    "restore_or_delete": Operation((Desired.RUNNING, Desired.ARCHIVED), Desired.RUNNING, Desired.DELETED),
    "leave": Operation((Desired.RUNNING,), Desired.RUNNING, Desired.RUNNING, left=True),
}


@dataclass
class Outcome:
    case: Case
    failure: str | None
    steps: int
    fired: list[tuple[int, Fault]]
    seconds: float
    """Of the time in the simulation."""
    trace: list[str] | None = None


@cache
def beginning(name: str) -> World:
    """An installation at rest, with a workspace that has been used, just before the operation."""
    world = World(None)
    for wish in OPERATIONS[name].way:
        following, at_rest = World(None), World(None)
        copy_state(world, following)
        following.run(_wish(wish))
        assert following.failure is None, following.failure
        copy_state(following, at_rest)
        world = at_rest  # in which nobody runs
    return world


def _wish(wish: Desired) -> Callable[[World], None]:
    def begin(world: World) -> None:
        if WORKSPACE in world.database.rows:
            world.wish(WORKSPACE, wish)
        else:
            world.create(WORKSPACE, wish)

    return begin


def run_operation(case: Case, trace: list[str] | None = None) -> Outcome:
    operation = OPERATIONS[case.name]
    source = beginning(case.name)
    world = World(Random(case.seed) if case.seed else None, trace)
    copy_state(source, world)
    world.steps.faults = dict(case.faults or ())
    if operation.collected:
        world.collect()
    if operation.left:
        street = world.open_street()
        return live(world, case, lambda _: street.work(WORKSPACE))
    world.mind = (WORKSPACE, operation.wish, operation.other)
    return live(world, case, _wish(operation.wish))


def live(world: World, case: Case, begin: Callable[[World], object]) -> Outcome:
    expected = {each: made_anew(each) for each in Desired}
    world.also_unsettled = lambda: differences(world, expected)
    forget_worlds()
    world.run(begin)
    failure = world.failure or next(iter(unforeseen), None)
    steps = world.steps
    return Outcome(case, failure, steps.taken, steps.fired, world.loop.time(), steps.trace)
