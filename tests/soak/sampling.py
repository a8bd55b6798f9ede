"""What an installation takes: memory and descriptors of its processes, connections, WAL and tables of its database."""

import asyncio
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg
from redis.asyncio import Redis
from redis.exceptions import RedisError

DATABASE = """
    SELECT (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS connections,
        pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint AS wal,
        (SELECT sum(pg_total_relation_size(relid)) FROM pg_stat_user_tables)::bigint AS bytes,
        (SELECT sum(n_dead_tup) FROM pg_stat_user_tables)::bigint AS dead,
        (SELECT coalesce(max(id), 0) FROM workspace_events) AS events,
        (SELECT count(*) FROM workspaces WHERE phase = 'ERROR') AS errors
"""
AWAY = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, RedisError)


@dataclass
class Sampled:
    """One installation, under its name."""

    name: str
    database_url: str
    redis_url: str
    processes: Callable[[], Mapping[str, Sequence[int | None]]]
    """Process ids, by what they do. Those who do the same are sampled together: who has which visitor is chance."""
    events: int = 0
    """What its workspaces' stories tell so far, also of what was pruned since."""
    errors: int = 0
    """How many of them are in ERROR."""
    replaced: int = 0
    """How many processes were there and then no more."""
    _pids: set[int] = field(default_factory=set)
    _wal: tuple[float, int] | None = None

    async def sample(self) -> dict[str, float]:
        """What can be taken now: on a machine that is loaded somebody may not answer in time."""
        taken = self._processes()
        for part in (self._database, self._redis):
            with suppress(*AWAY):
                taken |= await part()
        return taken

    def _processes(self) -> dict[str, float]:
        found = self.processes()
        taken: dict[str, float] = {}
        for called, pids in found.items():
            with suppress(OSError):
                taken |= {
                    f"{self.name} {called} MB": sum(map(_megabytes, pids)),
                    f"{self.name} {called} descriptors": float(sum(map(_descriptors, pids))),
                }
        now = {pid for pids in found.values() for pid in pids if pid is not None}
        self.replaced += len(self._pids - now)
        self._pids = now
        return taken

    async def _database(self) -> dict[str, float]:
        connection = await asyncpg.connect(self.database_url)
        try:
            row = await connection.fetchrow(DATABASE)
        finally:
            await connection.close()
        self.events, self.errors = row["events"], row["errors"]
        return self._wal_rate(row["wal"]) | {
            f"{self.name} database connections": float(row["connections"]),
            f"{self.name} tables MB": row["bytes"] / 1e6,
            f"{self.name} dead rows": float(row["dead"]),
        }

    def _wal_rate(self, position: int) -> dict[str, float]:
        """Since the sample before."""
        before, self._wal = self._wal, (time.monotonic(), position)
        if before is None:
            return {}
        return {f"{self.name} WAL kB/s": (position - before[1]) / 1000 / (self._wal[0] - before[0])}

    async def _redis(self) -> dict[str, float]:
        async with Redis.from_url(self.redis_url) as redis:
            about = await redis.info()
        return {
            f"{self.name} Redis MB": about["used_memory"] / 1e6,
            f"{self.name} Redis connections": float(about["connected_clients"]),
        }


def _megabytes(pid: int | None) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def _descriptors(pid: int | None) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


async def samples(installations: list[Sampled], every: float, told: list[dict[str, float]]) -> None:
    """One after the other, until cancelled."""
    began = time.monotonic()
    while True:
        taken = {"at": round(time.monotonic() - began, 1)}
        for each in installations:
            taken |= await each.sample()
        told.append(taken)
        await asyncio.sleep(every)
