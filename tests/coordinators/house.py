"""An installation as the tests see it: people who wish, replicas that work, and an engine that can be broken."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Self, TypeVar
from uuid import UUID, uuid4

from pydantic import BaseModel
from redis.asyncio import Redis
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from codehub import clock
from codehub.archives.directory import DirectoryStore
from codehub.archives.object_store import ObjectStore
from codehub.bus.activity_keys import Keys
from codehub.bus.activity_watch import ActivityWatch
from codehub.bus.connect import connect
from codehub.bus.hints import Hints
from codehub.bus.page_events import PageEvents
from codehub.bus.usage import Usage
from codehub.coordinators.actions import Actions
from codehub.coordinators.archive_acts import ArchiveTerms
from codehub.coordinators.archive_look import StoreLook
from codehub.coordinators.archiving import Archiving
from codehub.coordinators.backup_watch import BackupWatch
from codehub.coordinators.installation import Parts, assemble
from codehub.coordinators.leadership import Fence, Leadership
from codehub.coordinators.supervisor import Supervisor
from codehub.coordinators.workspace_controller import WorkspaceController
from codehub.decide.idle import IdlePolicy
from codehub.job.order import Proof
from codehub.model.states import Desired, Phase
from codehub.model.workspace import Request, RequestKind, Workspace
from codehub.runtimes.memory import MemoryRuntime
from codehub.runtimes.memory_engine import Call, MemoryEngine
from codehub.runtimes.protocols import Runtime
from codehub.settings.groups import ArchiveConfig, CoordinatorConfig, ReconcilerConfig, RetentionConfig
from codehub.store.engine import single
from codehub.store.home_counter import PostgresMarks
from codehub.store.rows import WORKSPACE_COLUMNS, to_workspace
from codehub.store.wishes import Because, NewWorkspace, create_workspace, place_request, wish
from codehub.telemetry.metrics import Metrics, fresh
from codehub.telemetry.traces import Traces

T = TypeVar("T")

IMAGE = "ide"
INSTALLATION = "house"
IDLE_POLICY = IdlePolicy(standby_after_seconds=600, archive_after_seconds=1800)
_TEMPLATE = text("INSERT INTO templates (id, name, image_ref, status, port) VALUES (:id, :name, :image, 'ready', 80)")


@dataclass
class Replica:
    """One process's coordinators. `kill` ends them as a crash would, `stop` in order."""

    supervisor: Supervisor
    task: asyncio.Task[None]
    runtime: Runtime

    async def stop(self) -> None:
        self.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.task
        await self.runtime.close()


@dataclass
class House:
    database_url: str
    redis: Redis
    prefix: str
    pool: AsyncEngine
    owner: UUID
    template: UUID
    store: ObjectStore
    relay_folder: Path
    engine: MemoryEngine = field(default_factory=lambda: MemoryEngine(images={IMAGE}))
    idle_policy: IdlePolicy = IDLE_POLICY
    replicas: list[Replica] = field(default_factory=list)
    metrics: Metrics = field(default_factory=fresh)
    traces: Traces = field(default_factory=Traces)

    @classmethod
    @contextlib.asynccontextmanager
    async def open(cls, database_url: str, redis_url: str, prefix: str) -> AsyncIterator[Self]:
        redis = connect(redis_url)
        pool = single(database_url, "tests")
        folder = tempfile.TemporaryDirectory()
        archives, relay = Path(folder.name) / "archives", Path(folder.name) / "relay"
        archives.mkdir()
        house = cls(database_url, redis, prefix, pool, uuid4(), uuid4(), DirectoryStore(archives), relay)
        async with pool.begin() as connection:
            await connection.execute(
                text("INSERT INTO users (id, login, password_hash) VALUES (:id, 'ann', '')"), {"id": house.owner}
            )
            await connection.execute(_TEMPLATE, {"id": house.template, "name": IMAGE, "image": IMAGE})
        try:
            yield house
        finally:
            for replica in house.replicas:
                await replica.stop()
            await pool.dispose()
            await redis.aclose()
            folder.cleanup()

    def runtime(self, fence: Callable[[], None]) -> Runtime:
        """What one replica runs workspaces on."""
        return MemoryRuntime(self.engine, INSTALLATION, fence)

    def actions(self, leadership: Leadership) -> Actions:
        """The acts of one who leads, with nobody who decides about them."""
        runtime = self.runtime(leadership.check)
        backups = BackupWatch(PostgresMarks(self.pool), self.store, INSTALLATION)
        terms = ArchiveTerms(level=1, proof=Proof.CHECKSUM, lent_seconds=600)
        archives = Archiving(self.store, terms, backups, None).acts(runtime, leadership, lambda *_: None, clock.now)
        return Actions(runtime, leadership, archives, backups, lambda *_: None)

    def replica(self, **settings: Any) -> Replica:  # noqa: ANN401 (any setting of these groups)
        """Start the coordinators of one more process."""
        fence = Fence()
        runtime = self.runtime(fence.check)
        quick = {"idle_interval": 1, "active_interval": 0.2, "initial_delay_max": 0, "retry_interval": 0.1}

        def given(group: type[BaseModel]) -> dict[str, Any]:
            return {name: value for name, value in settings.items() if name in group.model_fields}

        coordinator = CoordinatorConfig(
            **{"node_id": f"replica-{len(self.replicas)}", **quick, **given(CoordinatorConfig)}
        )
        parts = Parts(
            database_url=self.database_url,
            hints=Hints(self.redis, f"{self.prefix}:wake"),
            pages=PageEvents(self.redis, f"{self.prefix}:sse", IDLE_POLICY),
            activity=ActivityWatch(self.redis, Keys(f"{self.prefix}:activity")),
            usage=Usage(self.redis, f"{self.prefix}:usage", coordinator.usage_interval),
            idle_policy=self.idle_policy,
            runtime=runtime,
            fence=fence,
            archives=StoreLook(self.store),
            store=self.store,
            relay_folder=self.relay_folder,
            installation=INSTALLATION,
            coordinator=coordinator,
            reconciler=ReconcilerConfig(**{"retry_backoff": 0.1, **given(ReconcilerConfig)}),
            archive=ArchiveConfig(**given(ArchiveConfig)),
            retention=RetentionConfig(**given(RetentionConfig)),
            metrics=self.metrics,
            traces=self.traces,
        )
        supervisor = assemble(parts)
        for each in supervisor.coordinators:
            if isinstance(each, WorkspaceController):  # the delays of a crash loop are not worth waiting for
                each.policy = replace(each.policy, restart_delay=timedelta(milliseconds=20))
        replica = Replica(supervisor, asyncio.create_task(supervisor.run()), runtime)
        self.replicas.append(replica)
        return replica

    async def template_for(self, image: str) -> UUID:
        """A template that runs this image."""
        template = uuid4()
        async with self.pool.begin() as connection:
            await connection.execute(_TEMPLATE, {"id": template, "name": image, "image": image})
        return template

    async def create(self, desired: Desired = Desired.RUNNING, template: UUID | None = None) -> UUID:
        workspace_id = uuid4()
        async with self.pool.begin() as connection:
            new = NewWorkspace(workspace_id, self.owner, workspace_id.hex, template or self.template)
            await create_workspace(connection, new, desired, Because("owner", "ann"))
        return workspace_id

    async def wish(self, workspace_id: UUID, desired: Desired) -> None:
        async with self.pool.begin() as connection:
            await wish(connection, await self.row(workspace_id), desired, Because("owner", "ann"))

    async def request(self, workspace_id: UUID, kind: RequestKind) -> None:
        async with self.pool.begin() as connection:
            await place_request(connection, await self.row(workspace_id), Request(kind, uuid4(), "ann"))

    async def row(self, workspace_id: UUID) -> Workspace:
        from sqlalchemy import select

        from codehub.store.tables import workspaces

        async with self.pool.connect() as connection:
            query = select(*WORKSPACE_COLUMNS).where(workspaces.c.id == workspace_id)
            return to_workspace((await connection.execute(query)).one())

    async def events(self, workspace_id: UUID) -> list[tuple[str, str | None, str | None, str | None]]:
        query = text("SELECT kind, before, after, reason FROM workspace_events WHERE workspace_id = :id ORDER BY id")
        async with self.pool.connect() as connection:
            rows = await connection.execute(query, {"id": workspace_id})
            return [(row.kind, row.before, row.after, row.reason) for row in rows]

    async def until_phase(self, workspace_id: UUID, phase: Phase, seconds: float = 60) -> Workspace:
        async def reached() -> Workspace | None:
            row = await self.row(workspace_id)
            return row if row.phase is phase and row.operation == "NONE" else None

        try:
            return await until(reached, seconds)
        except TimeoutError:
            raise AssertionError(f"not {phase}: {await self.row(workspace_id)}") from None

    async def until_met(self, call: Call) -> None:
        """Until somebody has met a fault that was laid for this call, and was to be met so often."""

        async def met() -> bool | None:
            return any(fault.times == 0 for fault in self.engine.faults[call]) or None

        await until(met, 60)


async def until(look: Callable[[], Awaitable[T | None]], seconds: float) -> T:
    """What `look` finds, as soon as it finds something."""
    async with asyncio.timeout(seconds):
        while (found := await look()) is None:
            await asyncio.sleep(0.02)
        return found
