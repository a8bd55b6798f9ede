"""The leader is killed at each step of each operation: another goes on, the wish is reached, and nothing is doubled."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from codehub.decide.steps import AFTER_ACTION, FIRST_STEP, SIGHT
from codehub.model.states import Desired, Operation, Phase, Step
from codehub.runtimes.errors import InUse
from codehub.runtimes.memory import MemoryRuntime
from codehub.runtimes.memory_engine import Call, Fault, MemoryEngine
from tests.coordinators.house import IMAGE, INSTALLATION, House, until
from tests.coordinators.sessions import kill_all, kill_leader

LEASE_SECONDS = 2

WAY = {
    Operation.PROVISIONING: (None, Desired.STANDBY),
    Operation.STARTING: (Desired.STANDBY, Desired.RUNNING),
    Operation.STOPPING: (Desired.RUNNING, Desired.STANDBY),
    Operation.DELETING: (Desired.STANDBY, Desired.DELETED),
}
"""From which wish to which one each operation leads."""

CALLS = {
    Step.CREATE: Call.CREATE_VOLUME,
    Step.PULL: Call.PULL,
    Step.START: Call.START,
    Step.STOP: Call.STOP,
    Step.DELETE: Call.DELETE_VOLUME,
}
"""What each step asks of the engine."""


def steps_of(operation: Operation) -> Iterator[Step]:
    step = FIRST_STEP[operation]
    yield step
    while step in AFTER_ACTION:
        step = AFTER_ACTION[step]
        yield step


ACTS = [(operation, step) for operation in WAY for step in steps_of(operation) if step in AFTER_ACTION]
SIGHTS = [(operation, step) for operation in WAY for step in steps_of(operation) if step in SIGHT]


@dataclass
class Ambush(MemoryEngine):
    """An engine at whose door the leader dies, once: before its call has had its effect, or right after."""

    database_url: str = ""
    at: Call | None = None
    after_effect: bool = False

    @asynccontextmanager
    async def call(self, call: Call, about: str = "") -> AsyncIterator[None]:
        async with super().call(call, about):
            struck = call is self.at
            if struck:
                self.at = None
                if not self.after_effect:
                    await self._strike()
            yield
            if struck:
                await self._strike()

    async def _strike(self) -> None:
        await kill_leader(self.database_url, "coordinator:wc")
        await asyncio.get_running_loop().create_future()  # until it is cancelled: the dead return to nobody


def test_every_step_that_acts_has_its_call() -> None:
    assert {step for _, step in ACTS} == CALLS.keys()
    assert {step for operation in WAY for step in steps_of(operation)} == {step for _, step in [*ACTS, *SIGHTS]}


async def reached(house: House, operation: Operation, arm: Callable[[], None]) -> None:
    """The whole way of one operation, beginning with `arm`, and what must be true at its end."""
    before, wish = WAY[operation]
    if before is None:
        arm()
        workspace_id = await house.create(wish)
    else:
        workspace_id = await house.create(before)
        await house.until_phase(workspace_id, Phase(before.value))
        arm()
        await house.wish(workspace_id, wish)
    await house.until_phase(workspace_id, Phase(wish.value))
    assert len(house.engine.containers) == (1 if wish is Desired.RUNNING else 0)
    assert len(house.engine.homes) == (0 if wish is Desired.DELETED else 1)
    begun = [event for event in await house.events(workspace_id) if event[0] == "operation" and event[2] == operation]
    assert len(begun) == 1


@pytest.mark.parametrize("after_effect", [False, True], ids=["before its effect", "after its effect"])
@pytest.mark.parametrize(("operation", "step"), ACTS)
async def test_a_leader_that_dies_in_an_act_is_followed_by_one_that_finishes_it(
    house: House, operation: Operation, step: Step, *, after_effect: bool
) -> None:
    ambush = Ambush(images={IMAGE}, database_url=house.database_url, after_effect=after_effect)
    house.engine = ambush
    house.replica(lease_seconds=LEASE_SECONDS)
    house.replica(lease_seconds=LEASE_SECONDS)

    def arm() -> None:
        ambush.at = CALLS[step]

    await reached(house, operation, arm)
    assert ambush.at is None, "nobody came this way"


@pytest.mark.parametrize(("operation", "step"), SIGHTS)
async def test_leaders_that_die_before_the_effect_is_seen_are_followed_by_those_that_see_it(
    house: House, operation: Operation, step: Step
) -> None:
    house.replica(lease_seconds=LEASE_SECONDS)
    killing: list[asyncio.Task[None]] = []

    def arm() -> None:
        house.engine.lay(Call.LIST_VOLUMES, Fault(wait_seconds=math.inf))  # the Observer sees nothing any more
        killing.append(asyncio.create_task(kill_at(house, step)))

    await reached(house, operation, arm)
    assert killing[0].done()


async def kill_at(house: House, step: Step) -> None:
    async def waits() -> bool | None:
        async with house.pool.connect() as connection:
            steps = (await connection.exec_driver_sql("SELECT op_step FROM workspaces")).scalars().all()
        return steps == [step] or None

    await until(waits, 30)
    house.engine.clear_faults()
    await kill_all(house.database_url)


async def test_what_a_deposed_leader_does_late_touches_nothing_of_its_successors(house: House) -> None:
    house.replica(lease_seconds=LEASE_SECONDS)
    workspace_id = await house.create()
    await house.until_phase(workspace_id, Phase.RUNNING)
    (old,) = house.engine.containers.values()
    (home,) = house.engine.homes.values()
    await kill_leader(house.database_url, "coordinator:wc")
    house.engine.kill(workspace_id)

    async def another() -> bool | None:
        row = await house.row(workspace_id)
        return (row.phase is Phase.RUNNING and old.seen.id not in house.engine.containers) or None

    await until(another, 30)
    (new,) = house.engine.containers
    late = MemoryRuntime(house.engine, INSTALLATION)  # nothing stands between it and the engine
    await late.instances.stop(old.seen.id, 0)
    await late.volumes.create(home.spec)
    with pytest.raises(InUse):
        await late.volumes.delete(home.spec.name)
    assert list(house.engine.containers) == [new]
    assert list(house.engine.homes.values()) == [home]
