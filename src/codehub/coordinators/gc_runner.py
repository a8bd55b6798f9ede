"""The GC runner will collect orphaned archives and superseded volumes, slowly and apart from everything else."""

import asyncio
from dataclasses import dataclass

from codehub.coordinators.leadership import Leadership
from codehub.coordinators.supervisor import Report


@dataclass
class GcRunner:
    interval_seconds: float
    name: str = "gc"
    lock_name: str = "coordinator:gc"

    async def run(self, leadership: Leadership, report: Report) -> None:
        while True:
            await leadership.verify()
            report.passed()
            await asyncio.sleep(self.interval_seconds)
