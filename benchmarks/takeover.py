"""How soon another process goes on when the leader is killed or frozen, and whether a frozen one does harm afterwards.

    python -m benchmarks.takeover --kills 20 --freezes 20

Three `codehub serve --roles coordinators` processes on real PostgreSQL, Redis and Docker, with the default lease T. Of
the process that leads the WorkspaceController:

- killed with SIGKILL; right after it somebody wishes for a new workspace (a volume is made, nothing destroyed) and for
  another one to stop. Both count until they were done and seen;
- frozen with SIGSTOP while a start, a stop and a creation are under way; the next creation counts. When all is as
  wished it is let go on, and what is on the engine before and after must be the same, one container for each workspace
  that runs and one volume for each.
"""

import asyncio
import os
import random
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from benchmarks.replicas import Replicas, replicas
from benchmarks.stage import Figure, arguments, percentile, progress, run, wish

from codehub.runtimes.protocols import InstanceState
from codehub.settings.groups import CoordinatorConfig

PROCESSES = 3
LEASE_SECONDS = CoordinatorConfig().lease_seconds
ACTION_SECONDS = 1.0
UNDER_WAY_SECONDS = 0.5
"""A leader is frozen at a random moment within this time after the wishes."""
ENGINE_SECONDS = 1.0
"""What was sent to the engine has had its effect by then."""

HOMES = "SELECT id, desired_state, home_volume FROM workspaces"


@dataclass(frozen=True)
class Killed:
    harmless: float
    destructive: float


async def kill(installation: Replicas, running: UUID) -> Killed:
    leader = await installation.leader()
    began = time.time()
    installation.kill(leader)
    await wish(installation.person, running, "STANDBY")
    new = await installation.create("STANDBY")
    made = await installation.done_at(new, "PROVISIONING", began)
    installation.start()
    stopped = await installation.done_at(running, "STOPPING", began)
    await wish(installation.person, running, "RUNNING")
    await installation.until_candidates()
    await installation.until_phase(running, "RUNNING")
    return Killed(made - began, stopped - began)


@dataclass(frozen=True)
class Frozen:
    harmless: float
    harm: Sequence[str]


async def freeze(installation: Replicas, sleeping: UUID, running: UUID) -> Frozen:
    process = installation.processes[await installation.leader()]
    await wish(installation.person, sleeping, "RUNNING")
    await wish(installation.person, running, "STANDBY")
    created = await installation.create("STANDBY")
    await asyncio.sleep(random.uniform(0, UNDER_WAY_SECONDS))  # noqa: S311
    began = time.time()
    os.kill(process.pid, signal.SIGSTOP)
    try:
        new = await installation.create("STANDBY")
        made = await installation.done_at(new, "PROVISIONING", began)
        for workspace_id, phase in {sleeping: "RUNNING", running: "STANDBY", created: "STANDBY"}.items():
            await installation.until_phase(workspace_id, phase)
        before = await on_engine(installation)
    finally:
        os.kill(process.pid, signal.SIGCONT)
    await installation.until_candidates()  # by then it has given up all that it was about to do
    await asyncio.sleep(ENGINE_SECONDS)
    after = await on_engine(installation)
    changes = [f"{each} after SIGCONT" for each in sorted(before ^ after)]
    return Frozen(made - began, changes + await not_as_wished(installation))


async def on_engine(installation: Replicas) -> set[str]:
    instances, volumes = await installation.runtime.instances.list(), await installation.runtime.volumes.list()
    return {f"{each.name} {each.id} {each.state}" for each in instances} | {each.name for each in volumes}


async def not_as_wished(installation: Replicas) -> list[str]:
    """Each workspace that runs has one container that runs, the others none; each has one volume, its own."""
    containers: dict[UUID, list[InstanceState]] = {}
    for instance in await installation.runtime.instances.list():
        containers.setdefault(instance.workspace_id, []).append(instance.state)
    homes: dict[UUID, list[str]] = {}
    for volume in await installation.runtime.volumes.list():
        homes.setdefault(volume.workspace_id, []).append(volume.name)
    wrong = []
    for row in await installation.person.fetch(HOMES):
        wanted = [InstanceState.RUNNING] if row["desired_state"] == "RUNNING" else []
        if containers.get(row["id"], []) != wanted:
            wrong.append(f"{row['id']}: containers {containers.get(row['id'], [])}")
        if homes.get(row["id"]) != [row["home_volume"]]:
            wrong.append(f"{row['id']}: volumes {homes.get(row['id'])}, home {row['home_volume']}")
    return wrong


async def benchmark(kills: int, freezes: int) -> Sequence[Figure]:
    killed: list[Killed] = []
    frozen: list[Frozen] = []
    async with replicas(PROCESSES) as installation:
        sleeping, running = await installation.create("STANDBY"), await installation.create("RUNNING")
        await installation.until_phase(sleeping, "STANDBY")
        await installation.until_phase(running, "RUNNING")
        for number in range(1, kills + 1):
            killed.append(await kill(installation, running))
            last = killed[-1]
            progress(f"kill {number} of {kills}: created after {last.harmless:.2f} s, stopped {last.destructive:.2f} s")
        for number in range(1, freezes + 1):
            frozen.append(await freeze(installation, sleeping, running))
            sleeping, running = running, sleeping
            told = "; ".join(frozen[-1].harm) or "no harm"
            progress(f"freeze {number} of {freezes}: created after {frozen[-1].harmless:.2f} s, {told}")
    return [*figures_of_kills(killed), *figures_of_freezes(frozen)]


def figures_of_kills(killed: Sequence[Killed]) -> Sequence[Figure]:
    if not killed:
        return []
    harmless, destructive = [each.harmless for each in killed], [each.destructive for each in killed]
    limit = LEASE_SECONDS + ACTION_SECONDS
    return [
        Figure("SIGKILL to the next creation done, median", percentile(harmless, 0.5), "s"),
        Figure("SIGKILL to the next creation done, p99", percentile(harmless, 0.99), "s", at_most=ACTION_SECONDS),
        Figure("SIGKILL to the next stop done, p99", percentile(destructive, 0.99), "s", at_most=limit),
    ]


def figures_of_freezes(frozen: Sequence[Frozen]) -> Sequence[Figure]:
    if not frozen:
        return []
    harmless = [each.harmless for each in frozen]
    limit = LEASE_SECONDS + ACTION_SECONDS
    return [
        Figure("SIGSTOP to the next creation done, median", percentile(harmless, 0.5), "s"),
        Figure("SIGSTOP to the next creation done, longest", max(harmless), "s", at_most=limit),
        Figure("freezes with harm done after SIGCONT", sum(bool(each.harm) for each in frozen), "", at_most=0),
    ]


if __name__ == "__main__":
    sizes = arguments(__doc__, kills=20, freezes=20)
    run(benchmark(sizes.kills, sizes.freezes))
