"""Long histories of many workspaces: people who wish one thing after the other, and whatever can go wrong at any step.

Nothing of it is enumerated; a seed stands for all of it."""

import asyncio
from random import Random
from uuid import UUID

from codehub.model.states import Desired
from tests.simulation.faults import Case, Fault
from tests.simulation.operations import Outcome, live
from tests.simulation.world import LOOK_SECONDS, World

KINDS = (
    Fault.CRASH,
    Fault.FREEZE,
    Fault.CUT,
    Fault.ERROR,
    Fault.LIE,
    Fault.HIDE,
    Fault.DEATH,
    Fault.ROT,
    Fault.DEAF,
    Fault.ECHO,
    Fault.CLOCK,
)
RATE = 0.02
WORKSPACES = 4
SECONDS = 90.0
"""For so long people wish; then they wait."""
BETWEEN_WISHES = 6.0
WISHES = (Desired.RUNNING, Desired.RUNNING, Desired.STANDBY, Desired.ARCHIVED, Desired.ARCHIVED, Desired.DELETED)
HISTORIES = ("history", "street")
"""In a street people work in what they wish to run, and leave in the end: all of it goes to sleep by itself."""
LEFT_AFTER = 4
"""Wishes, on average, before somebody who works somewhere leaves."""
KEYS_APART = 10
"""Looks, on average, from one key to the next."""


def run_history(case: Case, trace: list[str] | None = None) -> Outcome:
    people, faults = Random(f"people {case.seed}"), Random(f"faults {case.seed}")
    world = World(Random(case.seed), trace)
    if case.faults is None:
        world.steps.rate, world.steps.kinds, world.steps.chance = RATE, KINDS, faults
    else:
        world.steps.faults = dict(case.faults)
    world.recovers = True
    if case.name == "street":
        world.open_street()
    return live(world, case, lambda world: _wishing(world, people))


async def _wishing(world: World, people: Random) -> None:
    ids = [UUID(int=0x100 + number) for number in range(people.randint(1, WORKSPACES))]
    for each in ids:
        world.create(each, people.choice(WISHES[:-1]))
    due = people.expovariate(1 / BETWEEN_WISHES)
    while world.loop.time() < SECONDS:
        world.write()
        if world.loop.time() >= due:
            due += people.expovariate(1 / BETWEEN_WISHES)
            world.wish(people.choice(ids), people.choice(WISHES))
            if world.street is not None:
                world.street.at_work = {each for each in ids if people.randrange(LEFT_AFTER)}
        if world.street is not None:
            world.street.press_keys(each for each in sorted(world.street.at_work) if not people.randrange(KEYS_APART))
        await asyncio.sleep(LOOK_SECONDS)
    world.steps.rate = 0.0
    if world.street is not None:
        world.street.at_work.clear()
