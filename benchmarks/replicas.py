"""Real `codehub serve --roles coordinators` processes that run workspaces on Docker, and a person who wishes."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg
from benchmarks.stage import Ground, ground, progress
from tests.folders import short_folder
from tests.runtimes.docker.tidy import clear
from tests.runtimes.docker.tool_image import HOST, PORT, tool_image

from codehub.runtimes.docker.runtime import DockerRuntime
from codehub.store.identity import installation_id

COORDINATORS = ("--roles", "coordinators", "--listen", "127.0.0.1:0")
HEALTH_PATH = "/starts"
LONGEST_SECONDS = 60

OFFER = """
    INSERT INTO templates (id, name, image_ref, status, port, health_path) VALUES ($1, 'tool', $2, 'ready', $3, $4)
"""
CREATE = """
    WITH made AS (
        INSERT INTO workspaces (id, owner_user_id, name, template_id, desired_state)
        VALUES ($1::uuid, $2, $1::uuid::text, $3, $4) RETURNING id
    )
    INSERT INTO workspace_events (workspace_id, kind, after) SELECT id, 'created', $4 FROM made
"""
AS_WISHED = "SELECT phase = $2 AND operation = 'NONE' FROM workspaces WHERE id = $1"
DONE = """
    SELECT at FROM workspace_events
    WHERE workspace_id = $1 AND kind = 'operation' AND before = $2 AND after = 'NONE' AND reason = 'done'
      AND at > $3::timestamptz
    ORDER BY id LIMIT 1
"""
LEADER = "SELECT holder_id FROM system_locks WHERE lock_name = 'coordinator:wc' AND NOT released"
CANDIDATES = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'codehub coordinator:wc'
"""


@dataclass
class Replicas:
    """An installation of several processes. Each dies with this one, whatever happens."""

    services: Ground
    folder: Path
    person: asyncpg.Connection
    runtime: DockerRuntime
    """Looks at the engine past the replicas."""
    image: str
    installation: str
    options: Sequence[str] = COORDINATORS
    """What is added to `codehub serve`."""
    owner: UUID = field(default_factory=uuid4)
    template: UUID = field(default_factory=uuid4)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    async def furnish(self) -> None:
        await self.person.execute("INSERT INTO users (id, login, password_hash) VALUES ($1, 'ann', '')", self.owner)
        await self.person.execute(OFFER, self.template, self.image, PORT, HEALTH_PATH)

    def start(self) -> None:
        """One more process; of those that are there it learns by itself."""
        node_id = f"replica-{uuid4().hex[:6]}"
        serve = [sys.executable, "-m", "codehub", "serve", *self.options]
        with (self.folder / f"{node_id}.log").open("wb") as log:
            self.processes[node_id] = subprocess.Popen(
                ["setpriv", "--pdeathsig=KILL", "--", *serve],
                cwd=self.folder,
                env={
                    **os.environ,
                    "CODEHUB_DATA_DIR": str(self.folder / "data"),
                    "DATABASE_URL": self.services.database_url,
                    "REDIS_URL": self.services.redis_url,
                    "RUNTIME": "docker",
                    "RUNTIME_PREPARE": "false",
                    "COORDINATOR_NODE_ID": node_id,
                    "COORDINATOR_INITIAL_DELAY_MAX": "1",
                },
                stdout=log,
                stderr=log,
            )

    async def until_candidates(self) -> None:
        """Every process leads, or waits for its turn."""
        try:
            await self.until(CANDIDATES, lambda count: count == len(self.processes))
        except TimeoutError:
            for log in self.folder.glob("*.log"):
                progress(f"{log.stem} said last: {log.read_text()[-2000:]}")
            raise
        await self.until(LEADER, lambda holder: holder in self.processes)

    async def leader(self) -> str:
        holder: str = await self.until(LEADER, lambda holder: holder in self.processes)
        return holder

    def kill(self, node_id: str) -> None:
        process = self.processes.pop(node_id)
        process.kill()
        process.wait()

    async def create(self, desired: str) -> UUID:
        workspace_id = uuid4()
        await self.person.execute(CREATE, workspace_id, self.owner, self.template, desired)
        return workspace_id

    async def until_phase(self, workspace_id: UUID, phase: str) -> None:
        await self.until(AS_WISHED, bool, workspace_id, phase)

    async def done_at(self, workspace_id: UUID, operation: str, began: float) -> float:
        """When this operation of it was done, the first time since then; by the database's clock, which is ours."""
        since = datetime.fromtimestamp(began, UTC)
        done = await self.until(DONE, lambda at: at is not None, workspace_id, operation, since)
        return float(done.timestamp())

    async def until(self, query: str, holds: Any, *values: object) -> Any:  # noqa: ANN401 (whatever the query finds)
        async with asyncio.timeout(LONGEST_SECONDS):
            while not holds(found := await self.person.fetchval(query, *values)):
                await asyncio.sleep(0.02)
            return found

    def end(self) -> None:
        for process in self.processes.values():
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()


@asynccontextmanager
async def replicas(count: int, options: Sequence[str] = COORDINATORS) -> AsyncIterator[Replicas]:
    """So many processes, all of them candidates. What they made on the engine is removed with them."""
    with tool_image() as image, short_folder() as folder:
        (folder / "data").mkdir()
        async with ground() as services:
            installation = await installation_id(services.database_url)
            runtime = DockerRuntime(installation, HOST)
            person = await asyncpg.connect(services.database_url)
            all_of_them = Replicas(services, folder, person, runtime, image, installation, options)
            try:
                await all_of_them.furnish()
                for _ in range(count):
                    all_of_them.start()
                await all_of_them.until_candidates()
                progress(f"{count} processes are candidates")
                yield all_of_them
            finally:
                all_of_them.end()
                await person.close()
                await runtime.close()
                await clear(installation)
