"""How much longer a start takes while another workspace's home is being archived.

    python -m benchmarks.start_beside_archive --megabytes 1000 --rounds 3 --starts 5

On Docker, into a directory on the same disk. In each round a workspace is started some times alone, and as often while
a large home of another one, made of copies of installed packages, is on its way into its archive; starts that end after
the archive was there do not count. Needs root, on the engine's own machine.
"""

import asyncio
import statistics
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import aiodocker
from benchmarks.archive import make_home
from benchmarks.replicas import Replicas, replicas
from benchmarks.stage import Figure, arguments, progress, run, wish
from benchmarks.standby_start import start_through_codehub
from tests.runtimes.docker.job_image import job_image
from tests.runtimes.docker.tool_image import HOST

LONGER = 1.2
BYTES_PER_FILE = 10_000
HOME = "SELECT home_volume FROM workspaces WHERE id = $1"
PACKED = "SELECT op_step IN ('archive', 'verify') FROM workspaces WHERE id = $1"


async def benchmark(megabytes: int, rounds: int, starts: int) -> Sequence[Figure]:
    alone, beside = [], []
    await job_image()
    async with replicas(1) as installation:
        runner = await installation.create("STANDBY")
        await installation.until_phase(runner, "STANDBY")
        sleeper = await large(installation, megabytes)
        await start(installation, runner)  # once before it counts: the network is made, all is warm
        for number in range(rounds):
            alone += [await start(installation, runner) for _ in range(starts)]
            beside += await starts_beside(installation, runner, sleeper, starts)
            progress(f"{number + 1} of {rounds}: {len(alone)} starts alone, {len(beside)} beside an archive")
    ratio = statistics.median(beside) / statistics.median(alone)
    return [
        Figure("a start alone, median", statistics.median(alone), "ms"),
        Figure("a start beside an archive, median", statistics.median(beside), "ms"),
        Figure("beside an archive, against alone", ratio, "x", at_most=LONGER),
    ]


async def large(installation: Replicas, megabytes: int) -> UUID:
    """A workspace that stands by, with so large a home."""
    workspace_id = await installation.create("STANDBY")
    await installation.until_phase(workspace_id, "STANDBY")
    async with aiodocker.Docker(url=HOST) as docker:
        volume = await (await docker.volumes.get(await installation.person.fetchval(HOME, workspace_id))).show()
    progress(f"copying packages: {megabytes} MB")
    files = megabytes * 1_000_000 // BYTES_PER_FILE
    await asyncio.to_thread(make_home, Path(volume["Mountpoint"]), files, megabytes)
    return workspace_id


async def start(installation: Replicas, workspace_id: UUID) -> float:
    took = await start_through_codehub(installation, workspace_id)
    await wish(installation.person, workspace_id, "STANDBY")
    await installation.until_phase(workspace_id, "STANDBY")
    return took


async def starts_beside(installation: Replicas, runner: UUID, sleeper: UUID, starts: int) -> list[float]:
    """Of one, while the home of the other is packed and proven; it is awake again afterwards."""
    took: list[float] = []
    await wish(installation.person, sleeper, "ARCHIVED")
    await installation.until(PACKED, bool, sleeper)
    while len(took) < starts:
        last = await start(installation, runner)
        if not await installation.person.fetchval(PACKED, sleeper):
            break
        took.append(last)
    await wish(installation.person, sleeper, "STANDBY")
    await installation.until_phase(sleeper, "STANDBY")
    return took


if __name__ == "__main__":
    sizes = arguments(__doc__, megabytes=1000, rounds=3, starts=5)
    run(benchmark(sizes.megabytes, sizes.rounds, sizes.starts))
