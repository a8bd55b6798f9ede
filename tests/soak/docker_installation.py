"""An installation whose workspaces are containers that repeat what they hear over WebSockets."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from codehub.store.identity import installation_id
from tests.chaos.engine import engine
from tests.chaos.ground import SETTINGS, Ground, ground
from tests.front_door.browser import Browser
from tests.front_door.house import House, Person
from tests.soak.echo_image import NAME, echo_image, offer
from tests.soak.sampling import Sampled

MADE_AT_ONCE = 4
PROCESSES = {"replicas": ("serve-1", "serve-2"), "front doors": ("proxy-1", "proxy-2")}
UNVISITED_SHARE = 0.1
QUIET = {
    "PROXY_CONNECTIONS_PER_ADDRESS": "10000",
    "TTL_STANDBY_SECONDS": "86400",
    "COORDINATOR_GC_INTERVAL": "60",
    "COORDINATOR_IDLE_INTERVAL": "15",
    "COORDINATOR_LEASE_SECONDS": "15",
    "RETENTION_EVENTS_SECONDS": "600",
    "RETENTION_AUDIT_SECONDS": "600",
}


@dataclass(frozen=True)
class DockerInstallation:
    person: Person
    """Whose workspaces they are."""
    doors: Sequence[tuple[Browser, UUID]]
    """Workspaces, each with a browser that has opened it."""
    unvisited: Sequence[UUID]
    """Those that may sleep, since nobody is there."""
    sampled: Sampled


@asynccontextmanager
async def docker_installation(workspaces: int) -> AsyncIterator[DockerInstallation]:
    """Two workspaces at least. Nobody makes trouble on its ways."""
    with echo_image() as image:
        async with ground(**QUIET) as made, engine(await installation_id(made.database_url)):
            await offer(made.database_url, image)
            try:
                yield await _furnished(made, workspaces)
            finally:
                await made.stop_codehub()


async def _furnished(made: Ground, workspaces: int) -> DockerInstallation:
    house = House(made.codehub.listener.getsockname()[:2], made.database_url, made.codehub.folder, SETTINGS)
    person = await house.person(max_running=workspaces)
    turn = asyncio.Semaphore(MADE_AT_ONCE)

    async def door(number: int) -> tuple[Browser, UUID]:
        async with turn:
            return await _door(person, f"garden-{number}")

    def processes() -> dict[str, list[int | None]]:
        return {called: [made.pid(name) for name in names] for called, names in PROCESSES.items()}

    doors = await asyncio.gather(*(door(number) for number in range(workspaces)))
    unvisited = [doors.pop()[1] for _ in range(max(1, round(UNVISITED_SHARE * workspaces)))]
    sampled = Sampled("docker", made.database_url, made.redis_url, processes)
    return DockerInstallation(person, doors, unvisited, sampled)


async def _door(person: Person, name: str) -> tuple[Browser, UUID]:
    workspace_id = await person.workspace(name, template=NAME)
    return await person.at(workspace_id), workspace_id
