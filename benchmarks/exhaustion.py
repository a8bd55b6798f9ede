"""What neighbours notice of a workspace that exhausts all it can: the time of small answers of one workspace, without
and with an attack in another one, in slices of one second in turn. On a real engine, and as root: so homes have a size.
Before the attacks, the same beside a workspace that only computes: on few cores whoever has to answer within a
millisecond notices that too, and no wall of a container is in the way of it.

Where the host itself is busy it tells little: all containers together weigh there as much as one process of the host,
no workspace comes to its own limit, and whoever attacks takes from that share.

Run it on a quiet machine: python -m benchmarks.exhaustion [--slices 15]"""

import asyncio
import shlex
import tempfile
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median

import aiohttp
from benchmarks.stage import Figure, arguments, percentile, progress, run
from tests.runtimes.docker.inside import House
from tests.runtimes.docker.tidy import clear
from tests.runtimes.docker.tool_image import HOST
from tests.security import attacks
from tests.security.python_image import python_image

from codehub.runtimes.docker.commands import run as command
from codehub.runtimes.docker.runtime import DockerRuntime
from codehub.runtimes.protocols import Instance

HOME_BYTES = 64 * 1024**2
SLICE_SECONDS = 1.0
AT_MOST = 2.0
COMPUTING = "import sys, time\nends = time.monotonic() + float(sys.argv[1])\nwhile time.monotonic() < ends: pass"
ATTACK = Path(attacks.__file__).read_text()


@asynccontextmanager
async def houses(image: str) -> AsyncIterator[House]:
    installation = f"bench-{uuid.uuid4().hex[:12]}"
    with tempfile.TemporaryDirectory() as folder:
        homes = Path(folder)
        runtime = DockerRuntime(installation, HOST, homes_folder=homes)
        try:
            yield House(runtime, image, installation)
        finally:
            await runtime.close()
            await clear(installation, homes_folder=homes)
            for point in filter(Path.is_mount, (homes / installation).iterdir()):
                await command("umount", str(point))


async def answers(client: aiohttp.ClientSession, url: str) -> list[float]:
    """Seconds of each answer in a slice, one after the other."""
    taken = []
    ends = time.perf_counter() + SLICE_SECONDS
    while (begun := time.perf_counter()) < ends:
        async with client.get(url, raise_for_status=True) as answer:
            await answer.read()
        taken.append(time.perf_counter() - begun)
    return taken


@asynccontextmanager
async def beside(house: House, other: Instance, program: list[str]) -> AsyncIterator[None]:
    words = ["/usr/bin/python3", "-I", "-c", *program, str(2 * SLICE_SECONDS)]
    async with asyncio.TaskGroup() as group:
        running = group.create_task(house.run(other, shlex.join(words)))
        await asyncio.sleep(SLICE_SECONDS / 2)  # until it has begun
        yield
        await running


async def measure(slices: int) -> list[Figure]:
    figures = []
    with python_image() as image:
        async with houses(image) as house, aiohttp.ClientSession() as client:
            neighbour = await house.workspace(house.home(HOME_BYTES))
            assert neighbour.endpoint is not None
            url = f"http://{neighbour.endpoint.address}:{neighbour.endpoint.port}/starts"
            programs = {"computing": [COMPUTING], **{each: [ATTACK, each] for each in attacks.ATTACKS}}
            for name, program in programs.items():
                other = await house.workspace(house.home(HOME_BYTES))
                alone, disturbed = [], []
                for _ in range(slices):
                    alone.append(percentile(await answers(client, url), 0.99))
                    async with beside(house, other, program):
                        disturbed.append(percentile(await answers(client, url), 0.99))
                await house.runtime.instances.stop(other.id, 0)
                before, now = median(alone), median(disturbed)
                progress(f"{name:<10} p99 {before * 1e3:.2f} ms alone, {now * 1e3:.2f} ms beside it")
                target = AT_MOST if name in attacks.ATTACKS else None
                figures.append(Figure(f"{name}: p99 beside, times alone", now / before, "x", target))
    return figures


if __name__ == "__main__":
    run(measure(arguments(__doc__, slices=15).slices))
