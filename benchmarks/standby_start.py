"""How much longer a start takes through codehub than the same container made, started and probed by hand.

    python -m benchmarks.standby_start --pairs 20

On Docker, the two in turn: a workspace is wished RUNNING and counts as ready when its row says so, by the database's
clock; then the same image is created with the same configuration over the same client library, started, and asked for
its health every few milliseconds until it answers.
"""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

import aiodocker
import aiohttp
from benchmarks.replicas import HEALTH_PATH, Replicas, replicas
from benchmarks.stage import Figure, arguments, percentile, progress, run, wish
from tests.runtimes.docker.tool_image import HOST, PORT

from codehub.runtimes.docker import container, labels
from codehub.runtimes.protocols import InstanceSpec, VolumeSpec

MORE_MS = 150
LOOK_SECONDS = 0.005
LAST_OCTETS = 250

TOOK = """
    SELECT (SELECT at FROM workspace_events WHERE workspace_id = wish.workspace_id AND id > wish.id
            AND kind = 'phase' AND after = 'RUNNING' ORDER BY id LIMIT 1) - wish.at
    FROM workspace_events AS wish WHERE id = $1
"""


async def benchmark(pairs: int) -> Sequence[Figure]:
    through, by_hand = [], []
    async with replicas(1) as installation, aiodocker.Docker(url=HOST) as docker, aiohttp.ClientSession() as session:
        workspace_id = await installation.create("RUNNING")  # once before it counts: the network is made, all is warm
        await installation.until_phase(workspace_id, "RUNNING")
        network, subnet = await network_of(installation, docker)
        volume = f"by-hand-{uuid4().hex[:8]}"
        await installation.runtime.volumes.create(VolumeSpec(volume, uuid4(), uuid4(), 1))
        for number in range(pairs):
            await wish(installation.person, workspace_id, "STANDBY")
            await installation.until_phase(workspace_id, "STANDBY")
            through.append(await start_through_codehub(installation, workspace_id))
            address = f"{subnet}.{LAST_OCTETS - number % 100}"
            spec = InstanceSpec(
                f"{volume}-{uuid4().hex[:8]}", uuid4(), uuid4(), 1, volume, installation.image, PORT, HEALTH_PATH
            )
            began = time.perf_counter()
            async with started_by_hand(installation, docker, spec, network, address):
                await until_healthy(session, spec, address)
                by_hand.append((time.perf_counter() - began) * 1000)
            progress(f"{number + 1} of {pairs}: {through[-1]:.0f} ms through codehub, {by_hand[-1]:.0f} ms by hand")
    more = [ours - theirs for ours, theirs in zip(through, by_hand, strict=True)]
    return [
        Figure("by hand, median", statistics.median(by_hand), "ms"),
        Figure("through codehub, median", statistics.median(through), "ms"),
        Figure("ratio of the medians", statistics.median(through) / statistics.median(by_hand), ""),
        Figure("through codehub more than by hand, median", statistics.median(more), "ms", at_most=MORE_MS),
        Figure("through codehub more than by hand, p90", percentile(more, 0.9), "ms"),
    ]


async def start_through_codehub(installation: Replicas, workspace_id: UUID) -> float:
    wished = await wish(installation.person, workspace_id, "RUNNING")
    await installation.until_phase(workspace_id, "RUNNING")
    took = await installation.person.fetchval(TOOK, wished)
    return float(took.total_seconds() * 1000)


@asynccontextmanager
async def started_by_hand(
    installation: Replicas, docker: aiodocker.Docker, spec: InstanceSpec, network: str, address: str
) -> AsyncIterator[None]:
    # Labelled as the installation's, so that it is cleared away with it, but not as a workspace's: no replica sees it.
    configuration = container.configuration(spec, installation.installation, network, address)
    configuration["Labels"] = {labels.INSTALLATION: installation.installation}
    made = await docker.containers.create(configuration, name=spec.name)
    try:
        await made.start()
        yield
    finally:
        await made.delete(force=True, v=True)


async def until_healthy(session: aiohttp.ClientSession, spec: InstanceSpec, address: str) -> None:
    while not await answers(session, f"http://{address}:{spec.port}{spec.health_path}"):
        await asyncio.sleep(LOOK_SECONDS)


async def answers(session: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with session.get(url) as answer:
            return answer.status < 400
    except aiohttp.ClientError:
        return False


async def network_of(installation: Replicas, docker: aiodocker.Docker) -> tuple[str, str]:
    """The workspaces' network: its name, and the first three numbers of a part of it that they do not use yet."""
    name = f"codehub-{installation.installation}"
    (found,) = await docker.networks.list(filters={"name": [name]})
    first, second, *_ = found["IPAM"]["Config"][0]["Subnet"].split(".")
    return name, f"{first}.{second}.255"


if __name__ == "__main__":
    run(benchmark(arguments(__doc__, pairs=20).pairs))
