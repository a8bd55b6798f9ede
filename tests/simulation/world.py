"""A whole installation in one event loop: people, processes, services, and what goes wrong with them."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID

from codehub.bus.hints import Listener
from codehub.model.states import Desired, ImageState, Phase
from codehub.model.templates import Template
from codehub.model.workspace import Request, RequestKind, Workspace
from codehub.runtimes.memory_engine import Container
from codehub.runtimes.protocols import JobState
from tests.simulation.collecting import POLICY, collector
from tests.simulation.contracts import (
    Contracts,
    contract_1_reality,
    contract_2_level_triggered,
    contract_6_at_most_one_container,
    contract_9_rubbish_goes,
)
from tests.simulation.engine import SimulatedDisk, SimulatedEngine
from tests.simulation.faults import Fault
from tests.simulation.loop import Process, State, Stuck, VirtualLoop
from tests.simulation.memory_database import is_settled
from tests.simulation.memory_seat import MemoryServer
from tests.simulation.object_store import SimulatedStore
from tests.simulation.replica import LEASE_SECONDS, Bus, Place, Replica, SimulatedSeat, WatchedDatabase
from tests.simulation.steps import Steps
from tests.simulation.street import Street, on

BEGINNING = datetime(2030, 1, 1, tzinfo=UTC)
IMAGE = "ide"
OWNER = UUID(int=1)
TEMPLATE = Template(UUID(int=2), "ide", IMAGE, ImageState.READY, 80, "/")
FROZEN_SECONDS = 4 * LEASE_SECONDS
"""Long enough that a successor has destroyed and made something meanwhile."""
CUT_SECONDS = LEASE_SECONDS / 4
LOOK_SECONDS = 0.5
"""How often people write, and it is looked whether all is well."""
CONVERGED_WITHIN_SECONDS = 120.0
"""After the last fault: the lease of whoever froze, the longest pause between attempts, and the work."""
STAYS_SECONDS = 1.0
"""So long whoever goes on after a freeze has to do what it still does."""
CLOCK_SET = timedelta(seconds=40)


class World:
    def __init__(self, chance: Random | None, steps_trace: list[str] | None = None) -> None:
        self.loop = loop = VirtualLoop(chance)
        self.contracts = Contracts(loop.stop)
        self.began_at = BEGINNING
        """By the database's clock as it is set."""
        self._readings = 0
        self._ahead = False
        self._calm_from = 0.0
        self.steps = Steps(loop, trace=steps_trace)
        database = WatchedDatabase(self.now, self.contracts)
        database.templates[TEMPLATE.id] = TEMPLATE
        store = SimulatedStore(self.steps, self.contracts)
        disk = SimulatedDisk(loop, store, self.steps)
        engine = SimulatedEngine(self.steps, self.contracts, disk, IMAGE)
        own = Random(chance.random() if chance else 0)
        self.place = Place(loop, self.steps, MemoryServer(database), database, engine, store, Bus(loop), own)
        self.contracts.place = self.place
        self.mind: tuple[UUID, Desired, Desired] | None = None
        """Whose owner changes their mind, and between what."""
        self.failure: str | None = None
        self.street: Street | None = None
        self.also_unsettled: Callable[[], Iterator[str]] = lambda: iter(())
        """What else has to be so in the end."""
        self.recovers = False
        """Whether owners ask to recover what is in ERROR, once nothing goes wrong any more."""

    def collect(self) -> None:
        """Let there be a collector, too."""
        self.place.more = (collector,)
        self.contracts.collect = POLICY

    def open_street(self) -> Street:
        """Let there be a front door, pages, and somebody who puts to sleep what is idle; hints come from the rows."""
        self.street = self.contracts.street = street = Street(self.place)
        self.place.more = on(street)
        street.open_door()
        return street

    @property
    def database(self) -> WatchedDatabase:
        return self.place.database

    @property
    def replicas(self) -> list[Replica]:
        return self.contracts.replicas

    def now(self) -> datetime:
        """The database's time. No two readings are the same, as on a real clock."""
        self._readings += 1
        return self.began_at + timedelta(0, self.loop.time(), self._readings)

    # People.

    def create(self, workspace_id: UUID, desired: Desired) -> None:
        self.steps.say(f"     owner creates {workspace_id.int} to be {desired}")
        self.database.writer = None
        row = self.database.create_workspace(workspace_id, OWNER, str(workspace_id.int), desired, "owner")
        self.database.write(replace(row, template_id=TEMPLATE.id))
        self._notify(workspace_id)

    def wish(self, workspace_id: UUID, desired: Desired) -> None:
        self.steps.say(f"     owner wishes {workspace_id.int} to be {desired}")
        self.database.writer = None
        self.database.wish(self.database.rows[workspace_id], desired, "owner")
        self._notify(workspace_id)

    def _notify(self, workspace_id: UUID) -> None:
        if self.street is not None:
            return
        for listener in Listener:
            self.place.bus.send(listener, workspace_id)

    def write(self) -> None:
        """Whoever has a workspace before them saves something there."""
        for row in self.database.rows.values():
            served = row.conditions.container
            container = self.place.engine.containers.get(served.subject or "") if served is not None else None
            if row.phase is Phase.RUNNING and row.deleted_at is None and container is not None:
                self._save(row, container)

    def _save(self, row: Workspace, container: Container) -> None:
        if container.seen.endpoint is None:
            return
        saved = self.contracts.acknowledged.get(row.id, 0)
        bit = 1 << saved.bit_length()
        contents = self.place.engine.homes_content
        contents[container.spec.volume] = contents.get(container.spec.volume, 0) | bit
        self.contracts.acknowledged[row.id] = saved | bit

    # What goes wrong.

    def start_replica(self) -> None:
        replica = Replica(self.place, Process("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[len(self.replicas) % 26]))
        self.replicas.append(replica)
        replica.start()

    def crash(self, process: Process) -> None:
        process.state = State.DEAD
        for seat in self._seats(process):
            seat.drop()
        if self.street is not None:
            self.street.crashed(process)
        self._keep_one_alive()

    def freeze(self, process: Process) -> None:
        self._stand_still(process, FROZEN_SECONDS, sessions_end_after=LEASE_SECONDS)

    def cut(self, process: Process) -> None:
        self._stand_still(process, CUT_SECONDS, sessions_end_after=0.0)

    def _stand_still(self, process: Process, seconds: float, *, sessions_end_after: float) -> None:
        process.state = State.FROZEN
        for seat in self._seats(process):
            self.loop.outside(sessions_end_after, seat.drop)
        self.loop.outside(seconds, self._thaw, process)
        self._keep_one_alive()

    def _thaw(self, process: Process) -> None:
        if process.state is State.FROZEN:
            self.steps.say(f"     {process.name} goes on")
            self._calm_from = self.loop.time() + STAYS_SECONDS
            self.loop.go_on(process)

    def _keep_one_alive(self) -> None:
        if all(each.process.state is not State.LIVE for each in self.replicas):
            self.loop.outside(0.0, self.start_replica)

    def _seats(self, process: Process) -> list[SimulatedSeat]:
        return [seat for each in self.replicas if each.process is process for seat in each.seats]

    def change_mind(self) -> None:
        if self.street is not None:
            self.street.press_keys(self.database.rows)
        if self.mind is not None:
            workspace_id, wish, other = self.mind
            self.mind = workspace_id, other, wish
            self.wish(workspace_id, other)

    def let_die(self) -> None:
        for row in self.database.rows.values():
            self.place.engine.kill(row.id)
        for job in self.place.engine.disk.jobs.values():
            job.end()

    def let_rot(self) -> None:
        objects = self.place.store.objects
        for key in objects:
            if key.endswith(".zst") and key not in self.database.archives:
                objects[key] = b"rotten"

    def set_clock(self) -> None:
        self.began_at += -CLOCK_SET if self._ahead else CLOCK_SET
        self._ahead = not self._ahead

    def disturb_hints(self, fault: Fault) -> None:
        self.place.bus.disturbed = [fault] * 4
        if self.street is not None and fault is Fault.DEAF:
            self.street.redis.restart()

    # How it ends.

    def run(self, live: Callable[["World"], object]) -> None:
        """Until everything that is wished is so, or something is wrong."""
        self.steps.sufferer = self
        self.start_replica()
        self.loop.create_task(self._live(live))
        try:
            self.loop.run_forever()
        except Stuck as stuck:
            self.failure = str(stuck)
        self.failure = self.contracts.broken[0] if self.contracts.broken else self.failure

    async def _live(self, live: Callable[["World"], object]) -> None:
        busy = live(self)
        if asyncio.iscoroutine(busy):
            await busy
        await self._converge()
        self.loop.stop()

    async def _converge(self) -> None:
        """Within its bound after the last fault."""
        last, since = -1, self.loop.time()
        while True:
            self.write()
            if len(self.steps.fired) != last or any(each.process.state is State.FROZEN for each in self.replicas):
                last, since = len(self.steps.fired), self.loop.time()
            elif self.loop.time() >= self._calm_from and not any(self._unsettled()):
                return
            elif self.recovers:
                self._recover()
            if self.loop.time() - since > CONVERGED_WITHIN_SECONDS:
                self.failure = "; ".join(self._unsettled())
                return
            await asyncio.sleep(LOOK_SECONDS)

    def _recover(self) -> None:
        """No state lacks an exit (contract 10)."""
        for row in list(self.database.rows.values()):
            if row.phase is Phase.ERROR and row.request is None and row.deleted_at is None:
                self.database.writer = None
                self.database.place_request(row, Request(RequestKind.RECOVER, self.place.new_id(), "owner"))
                self._notify(row.id)

    def _unsettled(self) -> Iterator[str]:
        for row in self.database.rows.values():
            yield from contract_2_level_triggered(row, self.now())
            yield from contract_1_reality(row, self.place, self.contracts.acknowledged.get(row.id, 0))
            yield from contract_6_at_most_one_container(row, self.place)
            if not is_settled(row):
                yield "contract 2: something is still to be decided"
        if any(each.seen.state is JobState.RUNNING for each in self.place.engine.disk.jobs.values()):
            yield "contract 2: a job still runs"
        if self.contracts.collect is not None:
            yield from contract_9_rubbish_goes(self.place, self.contracts.collect, self.now())
        if self.street is not None:
            yield from self.street.unsettled()
        yield from self.also_unsettled()


def copy_state(source: World, target: World) -> None:
    """The same rows, homes, containers and archives, in another world, from where time begins anew."""
    old, new = source.place, target.place
    target.began_at = source.began_at + timedelta(seconds=source.loop.time() + 60)
    new.database.rows.update(old.database.rows)
    new.database.touched.update(old.database.touched)
    new.database.archives.update(old.database.archives)
    new.database.orphans.update(old.database.orphans)
    new.database.listings.update(old.database.listings)
    new.database.marks.update(old.database.marks)
    new.database.counter = old.database.counter
    new.database.offices.update({name: replace(each, released=True) for name, each in old.database.offices.items()})
    new.store.objects.update(old.store.objects)
    new.engine.homes.update(old.engine.homes)
    new.engine.made = old.engine.made
    new.chance.setstate(old.chance.getstate())  # so that no identity is given twice
    new.engine.homes_content.update(old.engine.homes_content)
    new.engine.containers.update({name: replace(each) for name, each in old.engine.containers.items()})
    target.contracts.acknowledged.update(source.contracts.acknowledged)
    target.contracts.wished.update(source.contracts.wished)
