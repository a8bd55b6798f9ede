"""The leader is killed at each step of each operation: another goes on, the wish is reached, and nothing is doubled."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest

from codehub.archives.directory import DirectoryStore
from codehub.decide.steps import AFTER_ACTION, AFTER_SIGHT, FIRST_STEP, SIGHT
from codehub.job.order import Kind
from codehub.model.states import Desired, Operation, Phase, Step
from codehub.runtimes.errors import InUse
from codehub.runtimes.memory import MemoryRuntime
from codehub.runtimes.memory_engine import Call, Fault, MemoryEngine
from tests.coordinators.homes import Content, furnish, home_of, opened
from tests.coordinators.house import IMAGE, INSTALLATION, House, until
from tests.coordinators.sessions import kill_all, kill_leader

LEASE_SECONDS = 2

WAY: dict[Operation, tuple[Desired, ...]] = {
    Operation.PROVISIONING: (Desired.STANDBY,),
    Operation.STARTING: (Desired.STANDBY, Desired.RUNNING),
    Operation.STOPPING: (Desired.STANDBY, Desired.RUNNING, Desired.STANDBY),
    Operation.ARCHIVING: (Desired.STANDBY, Desired.ARCHIVED),
    Operation.RESTORING: (Desired.STANDBY, Desired.ARCHIVED, Desired.STANDBY),
    Operation.CREATE_EMPTY_ARCHIVE: (Desired.ARCHIVED,),
    Operation.DELETING: (Desired.STANDBY, Desired.DELETED),
}
"""Through which wishes each operation is reached: it leads to the last of them."""

CALLS: dict[Step, tuple[Call, str]] = {
    Step.CREATE: (Call.CREATE_VOLUME, ""),
    Step.PULL: (Call.PULL, ""),
    Step.START: (Call.START, ""),
    Step.STOP: (Call.STOP, ""),
    Step.ARCHIVE: (Call.RUN_JOB, Kind.ARCHIVE),
    Step.VERIFY: (Call.RUN_JOB, Kind.VERIFY),
    Step.RELEASE: (Call.DELETE_VOLUME, ""),
    Step.RESTORE: (Call.RUN_JOB, Kind.RESTORE),
    Step.DELETE: (Call.DELETE_VOLUME, ""),
}
"""What each step asks of the engine, and how the name of what it asks about ends."""
OF_THE_STORE = {Step.UPLOAD}
"""Steps that ask something of the archive store alone."""


def steps_of(operation: Operation) -> Iterator[Step]:
    step: Step | None = FIRST_STEP[operation]
    while step is not None:
        yield step
        step = (AFTER_ACTION | AFTER_SIGHT).get(step)


ACTS = [(operation, step) for operation in WAY for step in steps_of(operation) if step in AFTER_ACTION]
SIGHTS = [(operation, step) for operation in WAY for step in steps_of(operation) if step in SIGHT]


@dataclass
class Ambush(MemoryEngine):
    """An engine at whose door the leader dies, once: before its call has had its effect, or right after."""

    database_url: str = ""
    at: tuple[Call, str] | None = None
    after_effect: bool = False

    @asynccontextmanager
    async def call(self, call: Call, about: str = "") -> AsyncIterator[None]:
        async with super().call(call, about):
            struck = self.at is not None and call is self.at[0] and about.endswith(self.at[1])
            if struck:
                self.at = None
                if not self.after_effect:
                    await self._strike()
            yield
            if struck:
                await self._strike()

    async def _strike(self) -> None:
        await struck(self.database_url)


@dataclass
class Veiled(MemoryEngine):
    """An engine that shows nothing any more once it was asked for something, so that nobody sees what becomes of it."""

    at: tuple[Call, str] | None = None

    def veil_at(self, at: tuple[Call, str] | None) -> None:
        """None: at once, for what is not asked of the engine."""
        self.at = at
        if at is None:
            self._veil()

    @asynccontextmanager
    async def call(self, call: Call, about: str = "") -> AsyncIterator[None]:
        if self.at is not None and call is self.at[0] and about.endswith(self.at[1]):
            self.at = None
            self._veil()
        async with super().call(call, about):
            yield

    def _veil(self) -> None:
        self.lay(Call.LIST_VOLUMES, Fault(wait_seconds=math.inf))


class AmbushStore(DirectoryStore):
    """The same at the door of the archive store, where the first object is written."""

    def __init__(self, folder: Path, database_url: str, *, after_effect: bool) -> None:
        super().__init__(folder)
        self.database_url = database_url
        self.after_effect = after_effect
        self.armed = False

    async def put(self, key: str, data: bytes) -> None:
        armed, self.armed = self.armed and key.endswith(".zst"), False
        if armed and not self.after_effect:
            await struck(self.database_url)
        await super().put(key, data)
        if armed:
            await struck(self.database_url)


async def struck(database_url: str) -> None:
    await kill_leader(database_url, "coordinator:wc")
    await asyncio.get_running_loop().create_future()  # until it is cancelled: the dead return to nobody


def test_every_step_of_every_operation_has_its_case() -> None:
    assert {*WAY, Operation.NONE} == set(Operation)
    assert {step for _, step in ACTS} == CALLS.keys() | OF_THE_STORE
    assert {step for _, step in [*ACTS, *SIGHTS]} == set(Step)


async def reached(house: House, operation: Operation, arm: Callable[[], None]) -> None:
    """The whole way of one operation, beginning with `arm`, and what must be true at its end."""
    *before, wish = WAY[operation]
    kept: Content = {}
    workspace_id: UUID | None = None
    for number, station in enumerate(WAY[operation]):
        if number == len(before):
            arm()
        if workspace_id is None:
            workspace_id = await house.create(station)
        else:
            await house.wish(workspace_id, station)
        row = await house.until_phase(workspace_id, Phase(station.value), 60)
        if number == 0 and station is Desired.STANDBY:
            kept = furnish(home_of(house, row))
    assert workspace_id is not None
    begun = [event for event in await house.events(workspace_id) if event[0] == "operation" and event[2] == operation]
    assert len(begun) == 1
    assert len(house.engine.containers) == (1 if wish is Desired.RUNNING else 0)
    assert len(house.engine.homes) == (0 if wish in (Desired.DELETED, Desired.ARCHIVED) else 1)
    if wish is not Desired.DELETED:
        assert await opened(house, workspace_id) == kept


@pytest.mark.parametrize("after_effect", [False, True], ids=["before its effect", "after its effect"])
@pytest.mark.parametrize(("operation", "step"), ACTS)
async def test_a_leader_that_dies_in_an_act_is_followed_by_one_that_finishes_it(
    house: House, operation: Operation, step: Step, *, after_effect: bool
) -> None:
    ambush = Ambush(images={IMAGE}, database_url=house.database_url, after_effect=after_effect)
    house.engine = ambush
    folder = house.relay_folder.with_name("archives")
    house.store = store = AmbushStore(folder, house.database_url, after_effect=after_effect)
    house.replica(lease_seconds=LEASE_SECONDS)
    house.replica(lease_seconds=LEASE_SECONDS)

    def arm() -> None:
        ambush.at = CALLS.get(step)
        store.armed = step in OF_THE_STORE

    await reached(house, operation, arm)
    assert ambush.at is None, "nobody came this way"
    assert not store.armed, "nobody came this way"


@pytest.mark.parametrize(("operation", "step"), SIGHTS)
async def test_leaders_that_die_before_the_effect_is_seen_are_followed_by_those_that_see_it(
    house: House, operation: Operation, step: Step
) -> None:
    house.engine = engine = Veiled(images={IMAGE})
    house.replica(lease_seconds=LEASE_SECONDS)
    killing: list[asyncio.Task[None]] = []

    def arm() -> None:
        [act] = [before for before, after in AFTER_ACTION.items() if after is step]
        engine.veil_at(CALLS.get(act))
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
