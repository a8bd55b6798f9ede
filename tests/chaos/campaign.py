"""A campaign: people work while faults strike, and in the end everything is looked at."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random
from uuid import UUID, uuid4

import asyncpg

from codehub.store.identity import installation_id
from tests.chaos.api import TEMPLATE, Api, Refusal
from tests.chaos.checker import PLACES
from tests.chaos.disk import can_be_made
from tests.chaos.engine import Engine, bystander, engine
from tests.chaos.faults import JOB, STORE, Fault, Striker
from tests.chaos.ground import BACKOFF_SECONDS, DISKS, OPERATION_SECONDS, SETTINGS, Ground, ground
from tests.chaos.history import Calm, Created, History, Opened, Recovered, Rested
from tests.chaos.people import Worker
from tests.chaos.watch import Watch, watched
from tests.faults.real_house import HEALTH_PATH
from tests.front_door.house import House
from tests.runtimes.docker.tool_image import PORT

BOUND_SECONDS = OPERATION_SECONDS + 2 * 4 * BACKOFF_SECONDS + 60 + 120
"""The longest operation, the longest backoff, what a busy machine needs for services to be back, and what the collector
needs to take what a restore that was given up has left: its grace, and a round that failed a minute before."""
READ_SECONDS = 300
LOOK_SECONDS = 0.5
AT_ONCE = 3
OFFER = """
    INSERT INTO templates (id, name, image_ref, status, port, health_path, resources)
    VALUES ($1, $2, $3, 'ready', $4, $5, '{"memory_bytes": 67108864, "cpus": 0.5, "pids": 32}')
"""
ROWS = """
    SELECT id, name, desired_state AS wish, phase, error_reason AS reason, home_volume,
        operation = 'NONE' AND request IS NULL AND phase IN (desired_state, 'ERROR') AS rests
    FROM workspaces
"""

Say = Callable[[str], None]


@dataclass
class Campaign:
    ground: Ground
    engine: Engine
    history: History
    people: tuple[Api, Api]
    """Who asks for workspaces in which nobody works, and who works."""
    tenant: UUID
    """A workspace of somebody else, who is not disturbed."""
    chance: Random
    say: Say

    async def run(self, faults: Iterable[Fault], workers: int, go_on: Callable[[], bool]) -> None:
        """Strike with each fault in turn, as long as `go_on` says so."""
        over = asyncio.Event()
        striker = Striker(self.ground, self.engine, self.history, self.tenant)
        busy = [self._worker(f"garden-{number}") for number in range(workers)]
        await asyncio.gather(*(worker.begin() for worker in busy))
        self.say(f"{workers} are at work")
        async with asyncio.TaskGroup() as work:
            for worker in busy:
                work.create_task(worker.work(over))
            for number, fault in enumerate(faults, 1):
                if not go_on():
                    break
                await self._round(striker, fault, number)
            over.set()

    def _worker(self, name: str) -> Worker:
        chance = Random(self.chance.random())  # noqa: S311
        return Worker(self.people[1], self.engine, self.history, chance, name)

    async def _round(self, striker: Striker, fault: Fault, number: int) -> None:
        """A fault, and a workspace that is asked for in the moment in which it strikes."""
        began = time.monotonic()
        async with asyncio.TaskGroup() as both:
            striking = both.create_task(striker.strike(fault))
            both.create_task(self._canary("ARCHIVED" if fault.target in {STORE, JOB} else "STANDBY"))
        seconds, fault = time.monotonic() - began, striking.result()
        self.history.tell(Recovered(time.time(), fault.name, fault.target, round(seconds, 2)))
        self.say(f"{number}: {fault.name} {fault.target} {fault.seconds or ''}: {seconds:.1f} s")

    async def _canary(self, wish: str) -> None:
        api = self.people[0]
        made = await api.create(f"canary-{uuid4().hex[:8]}", "STANDBY")
        if wish != "STANDBY":
            await api.change(made, "wish", wish)
        await api.until(made, wish, BOUND_SECONDS)
        await api.change(made, "wish", "DELETED")

    async def look(self) -> None:
        """When the last fault is over: where everything came to rest, and what is in the homes."""
        await self.ground.until_ready()
        self.history.tell(Calm(time.time(), BOUND_SECONDS))
        created = {event.workspace for event in self.history.events if isinstance(event, Created)}
        homes = await self._rested(created)
        turn = asyncio.Semaphore(AT_ONCE)

        async def read(workspace_id: UUID) -> None:
            async with turn:
                await self._read(workspace_id)

        await asyncio.gather(*(read(workspace_id) for workspace_id in homes))

    async def _rested(self, awaited: set[str]) -> list[UUID]:
        """Tell of each when it does, and nothing of it is left elsewhere; in the end also of those that never do. Those
        that still have a home."""
        deadline, homes = time.monotonic() + BOUND_SECONDS, []
        while awaited:
            over = time.monotonic() > deadline
            containers, volumes = await self.engine.counts()
            for row in await self._rows():
                counts = containers[row["id"]], volumes[row["id"]]
                rests = row["rests"] and counts == PLACES.get(row["phase"], counts)
                if str(row["id"]) not in awaited or not (rests or over):
                    continue
                told = (row["name"], row["wish"], row["phase"], row["reason"])
                self.history.tell(Rested(time.time(), str(row["id"]), *told, *counts))
                awaited.remove(str(row["id"]))
                homes += [row["id"]] if row["wish"] != "DELETED" else []
            if over:
                break
            await asyncio.sleep(LOOK_SECONDS)
        return homes

    async def _read(self, workspace_id: UUID) -> None:
        """Bring its home back, from ERROR or from its archive, and read it."""
        api = next(each for each in self.people if workspace_id in each.made)
        deadline = time.monotonic() + READ_SECONDS
        while time.monotonic() < deadline:
            try:
                await api.change(workspace_id, "wish", "STANDBY")
                break
            except Refusal:
                await api.phase(workspace_id)
                await asyncio.sleep(LOOK_SECONDS)
        if await api.until(workspace_id, "STANDBY", READ_SECONDS):
            (volume,) = [row["home_volume"] for row in await self._rows() if row["id"] == workspace_id]
            self.history.tell(Opened(time.time(), str(workspace_id), await self.engine.pages(volume)))

    async def _rows(self) -> list[asyncpg.Record]:
        connection = await asyncpg.connect(self.ground.database_url)
        try:
            rows: list[asyncpg.Record] = await connection.fetch(ROWS)
        finally:
            await connection.close()
        return rows


@asynccontextmanager
async def campaign(history: History, seed: int, say: Say) -> AsyncIterator[Campaign]:
    """A whole installation, with somebody in it who does nothing and must not be disturbed."""
    async with ground(DISKS if can_be_made() else ()) as made:
        installation = await installation_id(made.database_url)
        async with engine(installation) as eyes, bystander(eyes) as other:
            await _offer(made.database_url, eyes.image)
            house = House(
                made.codehub.listener.getsockname()[:2], made.database_url, made.codehub.folder, dict(SETTINGS)
            )
            people = Api(await house.person(), history), Api(await house.person(), history)
            tenant = await (await house.person()).workspace("undisturbed", template=TEMPLATE)
            say(f"installation {installation} is up")
            try:
                async with watched(Watch(eyes, history, other, tenant, made.store)):
                    yield Campaign(made, eyes, history, people, tenant, Random(seed), say)  # noqa: S311
            finally:
                for each in people:
                    await each.close()
                await made.stop_codehub()


async def _offer(database_url: str, image: str) -> None:
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute(OFFER, uuid4(), TEMPLATE, image, PORT, HEALTH_PATH)
    finally:
        await connection.close()
