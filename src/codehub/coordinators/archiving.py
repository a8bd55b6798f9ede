"""What a controller has to do with the archive store, for as long as it leads."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from codehub.archives.object_store import ObjectStore
from codehub.coordinators.archive_acts import ArchiveActs, ArchiveTerms
from codehub.coordinators.backup_watch import BackupWatch
from codehub.coordinators.job_runner import JobRunner
from codehub.coordinators.leadership import Leadership
from codehub.coordinators.store_probe import probe_store
from codehub.coordinators.store_relay import StoreRelay
from codehub.coordinators.supervisor import Report
from codehub.model.workspace import Workspace
from codehub.runtimes.protocols import Runtime


@dataclass(frozen=True)
class Archiving:
    store: ObjectStore
    terms: ArchiveTerms
    backups: BackupWatch
    relay: StoreRelay | None
    """The way of jobs to the store, where they need one."""

    async def serve(self, report: Report) -> None:
        """Beside the passes: find out what the store does, and lead jobs to it."""
        async with asyncio.TaskGroup() as group:
            group.create_task(probe_store(self.store, report), name="probe the archive store")
            if self.relay is not None:
                group.create_task(self.relay.serve(), name="relay to the archive store")

    def acts(
        self,
        runtime: Runtime,
        leadership: Leadership,
        hear: Callable[[Workspace, Mapping[str, Any]], None],
        now: Callable[[], datetime],
    ) -> ArchiveActs:
        runner = JobRunner(runtime.jobs, leadership, hear)
        return ArchiveActs(runtime, self.store, runner, leadership, self.terms, now)

    def comparison(self, leadership: Leadership) -> Callable[[], Awaitable[object]]:
        """Compares the database with what the store was told of it."""
        return partial(self.backups.look, leadership.check)
