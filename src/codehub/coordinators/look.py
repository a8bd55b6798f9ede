"""One look at the runtime, and what it says of each workspace."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from codehub.coordinators.prober import Prober
from codehub.model.sightings import SeenContainer, Sighting
from codehub.runtimes.protocols import Instance, Volume

T = TypeVar("T")

AT_A_STRETCH = 1000


@dataclass(frozen=True)
class Look:
    """One look at the runtime: at all of it, or at some workspaces' part."""

    looked_at: datetime
    instances: dict[UUID, list[Instance]]
    volumes: dict[UUID, set[str]]

    def sighting(self, workspace_id: UUID, prober: Prober) -> Sighting:
        return Sighting(
            self.looked_at,
            containers=tuple(
                SeenContainer(each.id, each.volume, prober.state(each), each.endpoint, each.message)
                for each in self.instances.get(workspace_id, ())
            ),
            volumes=frozenset(self.volumes.get(workspace_id, ())),
        )


async def gather(looked_at: datetime, instances: Iterable[Instance], volumes: Iterable[Volume]) -> Look:
    look = Look(looked_at, defaultdict(list), defaultdict(set))
    async for instance in unhurried(instances):
        look.instances[instance.workspace_id].append(instance)
    async for volume in unhurried(volumes):
        look.volumes[volume.workspace_id].add(volume.name)
    return look


async def missing_homes(homes: dict[UUID, str], look: Look) -> list[UUID]:
    return [owner async for owner, home in unhurried(homes.items()) if home not in look.volumes.get(owner, ())]


async def unhurried(items: Iterable[T]) -> AsyncIterator[T]:
    """One by one, letting others have their turn: a hundred thousand at a stretch would cost leaders their lease."""
    for number, item in enumerate(items, 1):
        yield item
        if number % AT_A_STRETCH == 0:
            await asyncio.sleep(0)


def trace(sighting: Sighting) -> int:
    """Equal for two looks that saw the same of a workspace."""
    return hash((sighting.containers, sighting.volumes))
