"""What running workspaces use, looked at now and then beside the Observer's work and written to Redis for charts.

It must never cost anybody anything: a few at a time, one home after the other, and what fails is left out."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

import structlog

from codehub.decide.usage import Counted, cpus_used
from codehub.model.usage import Sample
from codehub.runtimes.errors import RuntimeFault
from codehub.runtimes.protocols import Instance, Runtime, Stats

log = structlog.get_logger()

AT_ONCE = 8
"""Docker 20.10 answers only with its own next look, within a second: so many make a hundred in an interval."""
STATS_SECONDS = 10.0
HOME_SECONDS = 120.0
"""A home that takes longer to count is not told of."""
HOMES_AGAIN_SECONDS = 600.0
"""So often a home is counted: that walks through all of its files."""
HOMES_LOOK_SECONDS = 1.0
"""How soon the home of a workspace that has just begun to run is counted."""
REST = 9
"""After a home was counted, so many times as long as it took nothing is: disks are for those who work."""


class Log(Protocol):
    async def write(self, workspace_id: UUID, sample: Sample) -> None: ...


@dataclass(frozen=True, slots=True)
class _Home:
    size_bytes: int | None
    counted_at: float


@dataclass
class Sampler:
    runtime: Runtime
    log: Log
    interval_seconds: float
    elapsed: Callable[[], float]
    now: Callable[[], datetime]
    _counted: dict[str, Counted] = field(default_factory=dict)
    """By instance: another container has another count, and begins a new series."""
    _homes: dict[str, _Home] = field(default_factory=dict)

    async def run(self, running: Callable[[], Sequence[Instance]]) -> None:
        """Until cancelled. `running` tells whom to look at."""
        while True:
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._count_homes(running), name="homes")
                    while True:
                        await asyncio.sleep(self.interval_seconds)
                        await self._look_at(running())
            except Exception:
                log.exception("usage not sampled")  # the bulkhead: who observes must not end by what is only shown
                await asyncio.sleep(self.interval_seconds)

    async def _look_at(self, instances: Sequence[Instance]) -> None:
        there = {each.id for each in instances}
        self._counted = {each: count for each, count in self._counted.items() if each in there}
        turns = iter(instances)
        async with asyncio.TaskGroup() as group:
            for _ in range(min(AT_ONCE, len(instances))):
                group.create_task(self._sample_each(turns))

    async def _sample_each(self, turns: Iterator[Instance]) -> None:
        for instance in turns:
            try:
                async with asyncio.timeout(STATS_SECONDS):
                    stats = await self.runtime.instances.stats(instance.id)
            except (RuntimeFault, OSError) as error:
                log.debug("usage unknown", instance=instance.name, error=repr(error))
                continue
            await self.log.write(instance.workspace_id, self._sample(instance, stats))

    def _sample(self, instance: Instance, stats: Stats) -> Sample:
        before, home = self._counted.get(instance.id), self._homes.get(instance.volume)
        counted = self._counted[instance.id] = Counted(stats.cpu_seconds, self.elapsed())
        return Sample(
            at=self.now(),
            cpus=cpus_used(before, counted),
            cpus_limit=stats.cpus_limit,
            memory_bytes=stats.memory_bytes,
            memory_limit_bytes=stats.memory_limit_bytes,
            pids=stats.pids,
            home_bytes=home.size_bytes if home is not None else None,
        )

    async def _count_homes(self, running: Callable[[], Sequence[Instance]]) -> None:
        while True:
            began = self.elapsed()
            home = self._due_home({each.volume for each in running()})
            if home is None:
                await asyncio.sleep(min(self.interval_seconds, HOMES_LOOK_SECONDS))
                continue
            self._homes[home] = _Home(await self._size(home), self.elapsed())
            await asyncio.sleep(REST * (self.elapsed() - began))

    def _due_home(self, homes: set[str]) -> str | None:
        """One that was never counted, or else the one whose count is the oldest, if that is old enough."""
        self._homes = {each: count for each, count in self._homes.items() if each in homes}
        if unknown := homes - self._homes.keys():
            return min(unknown)
        oldest = min(self._homes, key=lambda each: self._homes[each].counted_at, default=None)
        is_due = oldest is not None and self.elapsed() - self._homes[oldest].counted_at >= HOMES_AGAIN_SECONDS
        return oldest if is_due else None

    async def _size(self, home: str) -> int | None:
        try:
            async with asyncio.timeout(HOME_SECONDS):
                return await self.runtime.volumes.usage(home)
        except (RuntimeFault, OSError) as error:
            log.debug("home not counted", home=home, error=repr(error))
            return None
