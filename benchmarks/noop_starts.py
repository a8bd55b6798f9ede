"""How many workspaces a second one controller starts, where starting itself costs nothing.

    python -m benchmarks.noop_starts --workspaces 1000 --rounds 3

In each round all of them are wished RUNNING in one statement, and then STANDBY again. The runtime is the one in memory,
PostgreSQL and Redis are real. The rate counts from the wish to the last workspace that is as wished.
"""

import asyncio
import statistics
import time
from collections.abc import Sequence
from uuid import uuid4

import asyncpg
from benchmarks.stage import Figure, arguments, ground, progress, run
from tests.coordinators.house import House

LONGEST_SECONDS = 120
STARTS_PER_SECOND = 100

CREATE = """
    INSERT INTO workspaces (id, owner_user_id, name, template_id, desired_state)
    SELECT gen_random_uuid(), $1, 'workspace ' || number, $2, 'STANDBY' FROM generate_series(1, $3::integer) AS number
"""
WISH = "UPDATE workspaces SET desired_state = $1"
ON_THEIR_WAY = "SELECT EXISTS (SELECT FROM workspaces WHERE NOT settled OR phase <> $1)"
LAST_CHANGE = "SELECT max(phase_changed_at) FROM workspaces"


async def benchmark(workspaces: int, rounds: int) -> Sequence[Figure]:
    async with ground() as services, House.open(services.database_url, services.redis_url, uuid4().hex) as house:
        house.replica(idle_interval=15, active_interval=1)
        person = await asyncpg.connect(services.database_url)
        await person.execute(CREATE, house.owner, house.template, workspaces)
        await until_all(person, "STANDBY")
        rates, busy = [], []
        for number in range(1, rounds + 1):
            began = time.process_time()
            rates.append(workspaces / await seconds_until(person, "RUNNING"))
            busy.append((time.process_time() - began) / workspaces * 1000)
            stops = workspaces / await seconds_until(person, "STANDBY")
            progress(f"round {number} of {rounds}: {rates[-1]:.0f} starts/s, {stops:.0f} stops/s")
        await person.close()
    return [
        Figure("starts, median of the rounds", statistics.median(rates), "per second", at_least=STARTS_PER_SECOND),
        Figure("starts, slowest round", min(rates), "per second"),
        Figure("CPU time of the process for one start, median", statistics.median(busy), "ms"),
    ]


async def seconds_until(person: asyncpg.Connection, desired: str) -> float:
    """From the wish to the last workspace that is as wished, by the database's clock."""
    wished = await person.fetchval("SELECT clock_timestamp()")
    await person.execute(WISH, desired)
    await until_all(person, desired)
    took = await person.fetchval(LAST_CHANGE) - wished
    return float(took.total_seconds())


async def until_all(person: asyncpg.Connection, phase: str) -> None:
    async with asyncio.timeout(LONGEST_SECONDS):
        while await person.fetchval(ON_THEIR_WAY, phase):
            await asyncio.sleep(0.2)


if __name__ == "__main__":
    sizes = arguments(__doc__, workspaces=1000, rounds=3)
    run(benchmark(sizes.workspaces, sizes.rounds))
