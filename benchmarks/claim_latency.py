"""How long a wish waits, from its commit until its operation is claimed: with Redis, and with Redis stopped.

    python -m benchmarks.claim_latency --wishes 300 --without 6

Both moments are read from the workspace's history, by the database's clock. Without Redis there are no hints: each wish
comes after a random pause of up to one idle interval, so that it falls anywhere between two looks.
"""

import asyncio
import random
from collections.abc import Sequence
from itertools import cycle
from uuid import UUID, uuid4

import asyncpg
from benchmarks.stage import Figure, arguments, ground, percentile, progress, run, wish
from tests.coordinators.house import House

from codehub.coordinators.ticker import JITTER
from codehub.model.states import Desired, Phase
from codehub.settings.groups import CoordinatorConfig

SECONDS_WITH_REDIS = 0.05
IDLE_INTERVAL = CoordinatorConfig().idle_interval
ACTIVE_DURATION = 2.0
"""Shorter than by default, so that the installation is idle again before the next wish without Redis."""

WAITED = """
    SELECT claimed.at - wish.at FROM workspace_events AS wish
    JOIN workspace_events AS claimed ON claimed.workspace_id = wish.workspace_id AND claimed.id > wish.id
    WHERE wish.id = $1 AND claimed.kind = 'operation' ORDER BY claimed.id LIMIT 1
"""


async def benchmark(wishes: int, without: int) -> Sequence[Figure]:
    async with ground() as services, House.open(services.database_url, services.redis_url, uuid4().hex) as house:
        house.replica(
            idle_interval=IDLE_INTERVAL,
            active_interval=CoordinatorConfig().active_interval,
            active_duration=ACTIVE_DURATION,
        )
        workspace_id = await house.create(Desired.STANDBY)
        await house.until_phase(workspace_id, Phase.STANDBY)
        person = await asyncpg.connect(services.database_url)
        desired = cycle((Desired.RUNNING, Desired.STANDBY))
        hinted = []
        for number in range(1, wishes + 1):
            hinted.append(await waited(house, person, workspace_id, next(desired)))
            await asyncio.sleep(random.uniform(0, 0.05))  # noqa: S311 (so that wishes fall anywhere in a pass)
            if number % 50 == 0:
                progress(f"{number} of {wishes} wishes with Redis: p99 {percentile(hinted, 0.99) * 1000:.0f} ms")
        await services.redis.stop()
        polled = []
        for number in range(1, without + 1):
            await asyncio.sleep(ACTIVE_DURATION + random.uniform(0, IDLE_INTERVAL))  # noqa: S311
            polled.append(await waited(house, person, workspace_id, next(desired)))
            progress(f"{number} of {without} wishes without Redis: {polled[-1]:.1f} s")
        await person.close()
    return [
        Figure("wish to claim with Redis, median", percentile(hinted, 0.5) * 1000, "ms"),
        Figure(
            "wish to claim with Redis, p99", percentile(hinted, 0.99) * 1000, "ms", at_most=SECONDS_WITH_REDIS * 1000
        ),
        Figure("wish to claim without Redis, longest", max(polled), "s", at_most=IDLE_INTERVAL * (1 + JITTER)),
    ]


async def waited(house: House, person: asyncpg.Connection, workspace_id: UUID, desired: Desired) -> float:
    wished = await wish(person, workspace_id, desired)
    await house.until_phase(workspace_id, Phase(desired), seconds=60)
    took = await person.fetchval(WAITED, wished)
    return float(took.total_seconds())


if __name__ == "__main__":
    sizes = arguments(__doc__, wishes=300, without=6)
    run(benchmark(sizes.wishes, sizes.without))
