"""The collector alone, as the tests see it: rows as they may stand, things outside, and rounds that are asked for."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncEngine

from codehub import clock
from codehub.archives.object_store import ObjectStore
from codehub.coordinators.backup_watch import BackupWatch
from codehub.coordinators.gc_runner import Book, GcRunner
from codehub.coordinators.leadership import Fence
from codehub.coordinators.supervisor import Supervisor, Terms
from codehub.decide.orphans import CollectPolicy
from codehub.model.conditions import Condition, Conditions, Reason, Status
from codehub.model.states import Desired, Operation, Phase
from codehub.model.workspace import Request, RequestKind, archive_key, incarnation_name
from codehub.runtimes.memory import MemoryRuntime
from codehub.runtimes.memory_engine import MemoryEngine
from codehub.runtimes.protocols import InstanceSpec, VolumeSpec
from codehub.settings.groups import AuthConfig, RetentionConfig
from codehub.store import gc_rounds
from codehub.store.collector import PostgresCollector
from codehub.store.engine import single
from codehub.store.gc_rounds import PostgresRounds
from codehub.store.home_counter import PostgresMarks
from codehub.store.protocols import Seat
from codehub.store.pruning import prune_by_age, prune_workspaces
from codehub.store.rows import from_conditions, from_request
from codehub.store.seat import PostgresSeat
from codehub.telemetry.metrics import Metrics, fresh
from tests.coordinators.house import Replica, until

INSTALLATION = "ours"
GRACE = timedelta(hours=2)
POLICY = CollectPolicy(grace=GRACE, max_share=0.05, generations=3, undelete_window=timedelta(days=7))
CONTENT = b"a home"


@dataclass
class Collecting:
    database_url: str
    store: ObjectStore
    pool: AsyncEngine
    owner: UUID = field(default_factory=uuid4)
    engine: MemoryEngine = field(default_factory=lambda: MemoryEngine(images={"ide"}))
    metrics: Metrics = field(default_factory=fresh)
    policy: CollectPolicy = POLICY
    retention: RetentionConfig = field(default_factory=RetentionConfig)
    replicas: list[Replica] = field(default_factory=list)
    reached: Callable[[str, Any], Any] = lambda _, part: part
    """How those who lead reach the store, the runtime and their book."""

    def lead(self, store: ObjectStore | None = None, lease_seconds: float = 5.0) -> Replica:
        """One more process that would lead, and does unless another is before it."""
        fence = Fence()
        runtime = MemoryRuntime(self.engine, INSTALLATION, fence.check)
        store = self.reached("store", store or self.store)
        runner = GcRunner(
            runtime=self.reached("runtime", runtime),
            fence=fence,
            store=store,
            installation=INSTALLATION,
            watch=self.watch(store),
            policy=self.policy,
            open_book=self._book,
            elapsed=clock.elapsed,
            metrics=self.metrics,
            look_seconds=0.02,
            pause_seconds=0.1,
        )
        supervisor = Supervisor(
            coordinators=[runner],
            take_seat=lambda lock: PostgresSeat.take(self.database_url, lock, uuid4().hex, lease_seconds),
            others_compete=_never,
            terms=Terms(lease_seconds, 0.1, 0),
        )
        replica = Replica(supervisor, asyncio.create_task(supervisor.run()), runtime)
        self.replicas.append(replica)
        return replica

    def watch(self, store: ObjectStore | None = None) -> BackupWatch:
        return BackupWatch(PostgresMarks(single(self.database_url, "tests")), store or self.store, INSTALLATION)

    def _book(self, seat: Seat) -> Book:
        assert isinstance(seat, PostgresSeat)
        return Book(
            collector=self.reached("collector", PostgresCollector(seat)),
            rounds=self.reached("rounds", PostgresRounds(seat, interval=timedelta(hours=4))),
            prune=self.reached("prune", partial(prune_by_age, seat, self.retention, AuthConfig())),
            prune_workspaces=self.reached("prune_workspaces", partial(prune_workspaces, seat, self.retention)),
        )

    async def execute(self, statement: str, **values: object) -> None:
        async with self.pool.begin() as connection:
            await connection.execute(text(statement), values)

    async def count(self, table: str) -> int:
        async with self.pool.connect() as connection:
            return int(await connection.scalar(text(f"SELECT count(*) FROM {table}")) or 0)  # noqa: S608

    # Rounds.

    async def round(self) -> RowMapping:
        """Ask for one, and tell what it came to."""
        async with self.pool.begin() as connection:
            asked = await gc_rounds.ask(connection, "ann")
        return await self.ended(asked["id"])

    async def failing_round(self) -> tuple[UUID, str]:
        """Ask for one, and tell why it could not be made."""
        async with self.pool.begin() as connection:
            asked = await gc_rounds.ask(connection, "ann")

        async def look() -> str | None:
            async with self.pool.connect() as connection:
                found = await gc_rounds.one(connection, asked["id"])
                return found["failed"] if found is not None else None

        return asked["id"], await until(look, 30)

    async def ended(self, round_id: UUID) -> RowMapping:
        async def look() -> RowMapping | None:
            async with self.pool.connect() as connection:
                found = await gc_rounds.one(connection, round_id)
                return found if found is not None and found["ended_at"] is not None else None

        return await until(look, 30)

    async def graces_end(self) -> None:
        """All that was noted was noted so long ago."""
        await self.execute("UPDATE orphans SET first_seen = first_seen - CAST(:grace AS interval)", grace=GRACE)

    async def collected(self) -> RowMapping:
        """A round that notes, and after the grace one that takes."""
        await self.round()
        await self.graces_end()
        return await self.round()

    # Rows.

    async def workspace(self, phase: Phase = Phase.STANDBY, **values: object) -> UUID:
        """A row as the controller leaves it. With a home or an archive it was seen to have it."""
        workspace_id = uuid4()
        wished = phase if phase in (*Desired,) else Desired.STANDBY
        row: dict[str, object] = {
            "id": workspace_id,
            "owner_user_id": self.owner,
            "name": workspace_id.hex,
            "phase": phase,
            "desired_state": wished,
            "operation": Operation.NONE,
            **values,
        }
        if wished == Desired.DELETED:
            row.setdefault("deleted_at", clock.now())
        names = ", ".join(row)
        holes = ", ".join(f":{name}" for name in row)
        await self.execute(f"INSERT INTO workspaces ({names}) VALUES ({holes})", **row)  # noqa: S608
        await self.seen(workspace_id, volume=row.get("home_volume"), archive=row.get("archive_key"))
        return workspace_id

    async def seen(self, workspace_id: UUID, volume: object = None, archive: object = None) -> None:
        now = clock.now()
        conditions = Conditions(
            volume=Condition(Status.TRUE, Reason.VOLUME_PROVISIONED, "", now, str(volume), now) if volume else None,
            archive=Condition(Status.TRUE, Reason.ARCHIVE_UPLOADED, "", now, str(archive), now) if archive else None,
        )
        await self.execute(
            "UPDATE workspaces SET conditions = CAST(:conditions AS jsonb) WHERE id = :id",
            id=workspace_id,
            conditions=json.dumps(from_conditions(conditions)),
        )

    async def request(self, workspace_id: UUID, kind: RequestKind, key: str) -> None:
        stored = json.dumps(from_request(Request(kind, uuid4(), "ann", key)))
        await self.execute(
            "UPDATE workspaces SET request = CAST(:request AS jsonb) WHERE id = :id", id=workspace_id, request=stored
        )

    async def generation(self, workspace_id: UUID, *, kept: bool = False, row: bool = True, marker: bool = True) -> str:
        """An archive of the workspace, in the store and in the table."""
        op_id = uuid4()
        key = archive_key(workspace_id, op_id)
        await self.store.put(key, CONTENT)
        if marker:
            await self.store.put(f"{key}.meta", json.dumps({"size": len(CONTENT)}).encode())
        if row:
            await self.execute(
                "INSERT INTO archives (id, workspace_id, generation, key, size, checksum, entries, op_id, kept)"
                " SELECT :id, :workspace_id, count(*) + 1, :key, :size, '', 1, :op_id, :kept FROM archives"
                " WHERE workspace_id = :workspace_id",
                id=uuid4(),
                workspace_id=workspace_id,
                key=key,
                size=len(CONTENT),
                op_id=op_id,
                kept=kept,
            )
        return key

    # Outside.

    async def keys(self) -> set[str]:
        """The archives in the store, whole ones only."""
        names = {each.key async for each in self.store.list()}
        return {name for name in names if f"{name}.meta" in names}

    async def objects(self) -> set[str]:
        return {each.key async for each in self.store.list()}

    def runtime(self) -> MemoryRuntime:
        return MemoryRuntime(self.engine, INSTALLATION)

    async def volume(self, workspace_id: UUID) -> str:
        op_id = uuid4()
        name = incarnation_name(workspace_id, op_id, 1)
        await self.runtime().volumes.create(VolumeSpec(name, workspace_id, op_id, 1))
        return name

    async def volumes(self) -> set[str]:
        return {each.name for each in await self.runtime().volumes.list()}

    async def container(self, workspace_id: UUID) -> str:
        volume = await self.volume(workspace_id)
        spec = InstanceSpec(f"{volume}-c", workspace_id, uuid4(), 1, volume, "ide", 80, "/")
        return await self.runtime().instances.start(spec)

    async def containers(self) -> set[str]:
        return {each.id for each in await self.runtime().instances.list()}


async def _never() -> bool:
    return False


@contextlib.asynccontextmanager
async def collecting(database_url: str, store: ObjectStore, **settings: Any) -> AsyncIterator[Collecting]:  # noqa: ANN401
    pool = single(database_url, "tests")
    made = Collecting(database_url, store, pool, **settings)
    await made.execute(
        "INSERT INTO users (id, login, password_hash) VALUES (:id, :login, '')", id=made.owner, login=made.owner.hex
    )
    try:
        yield made
    finally:
        for replica in made.replicas:
            await replica.stop()
        await pool.dispose()
