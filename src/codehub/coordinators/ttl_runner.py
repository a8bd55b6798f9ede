"""The TTL runner will bring activity into the database and put idle workspaces to sleep, at its own interval."""

import asyncio
from dataclasses import dataclass

from codehub.coordinators.leadership import Leadership
from codehub.coordinators.supervisor import Report


@dataclass
class TtlRunner:
    interval_seconds: float
    name: str = "ttl"
    lock_name: str = "coordinator:ttl"

    async def run(self, leadership: Leadership, report: Report) -> None:
        while True:
            await leadership.verify()
            report.passed()
            await asyncio.sleep(self.interval_seconds)
