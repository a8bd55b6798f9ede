"""What every benchmark stands on: private services as `codehub up` runs them, and figures beside their targets."""

import argparse
import os
import sys
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import ceil
from uuid import UUID

import asyncpg
import uvloop
from tests.coordinators.own_service import OwnService, own_database, own_redis
from tests.folders import short_folder

from codehub.stack.account import service_account
from codehub.telemetry import logs

_WISH = """
    WITH wished AS (UPDATE workspaces SET desired_state = $2 WHERE id = $1 RETURNING id)
    INSERT INTO workspace_events (workspace_id, kind, after) SELECT id, 'wish', $2 FROM wished RETURNING id
"""


@dataclass(frozen=True)
class Ground:
    """A migrated, empty database whose every commit reaches the disk, and a Redis that may be stopped."""

    database_url: str
    redis_url: str
    redis: OwnService


@asynccontextmanager
async def ground() -> AsyncIterator[Ground]:
    account = service_account()
    with short_folder() as folder:
        async with (
            own_database(folder, account, durable=True) as database_url,
            own_redis(folder, account) as (redis, redis_url),
        ):
            yield Ground(database_url, redis_url, redis)


async def wish(person: asyncpg.Connection, workspace_id: UUID, desired: str) -> int:
    """Change a wish over a connection that is open already, and return the event that tells when."""
    event: int = await person.fetchval(_WISH, workspace_id, desired)
    return event


@dataclass(frozen=True)
class Figure:
    """One measured number. Without a target it only helps to read the others."""

    what: str
    measured: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None

    @property
    def is_met(self) -> bool:
        return (self.at_most is None or self.measured <= self.at_most) and (
            self.at_least is None or self.measured >= self.at_least
        )

    @property
    def target(self) -> str:
        if self.at_most is not None:
            return f"<= {self.at_most:g}"
        return f">= {self.at_least:g}" if self.at_least is not None else ""


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of them does not exceed; with few values the largest, never one in between."""
    return sorted(values)[max(0, ceil(share * len(values)) - 1)]


def arguments(about: str | None, **sizes: int) -> argparse.Namespace:
    """The sizes of a run, each an option with its default."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, size in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=size, help=f"default: {size}")
    return parser.parse_args()


def progress(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def run(benchmark: Coroutine[None, None, Sequence[Figure]]) -> None:
    """Run it on the loop that codehub runs on, print its figures, and end with 1 where one misses its target."""
    logs.configure("warning", "console")
    figures = uvloop.run(benchmark)
    width = max(len(figure.what) for figure in figures)
    print(f"\n{'figure':<{width}}  {'measured':>10}  {'target':>10}")
    for figure in figures:
        missed = "" if figure.is_met else "  MISSED"
        print(f"{figure.what:<{width}}  {figure.measured:>10.4g}  {figure.target:>10} {figure.unit}{missed}")
    print(f"\n{os.cpu_count()} cores, load {' '.join(f'{each:.1f}' for each in os.getloadavg())}")
    sys.exit(0 if all(figure.is_met for figure in figures) else 1)
