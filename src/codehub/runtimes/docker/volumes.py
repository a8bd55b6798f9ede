"""Homes as named volumes."""

import asyncio
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID

from codehub.runtimes import trees
from codehub.runtimes.docker import labels
from codehub.runtimes.docker.api import LOOK_SECONDS, DockerApi, translated
from codehub.runtimes.docker.container import USER
from codehub.runtimes.docker.sized_homes import SizedHomes
from codehub.runtimes.errors import NotFound, RuntimeFault
from codehub.runtimes.protocols import Volume, VolumeSpec

MEASURED_SECONDS = 60.0


class DockerVolumes:
    """As root on the engine's own machine the folders of volumes are in reach, which makes two things cheap and right:
    a new home belongs to the workspace's user whatever the image has in that place, and what it holds can be counted.
    Elsewhere the image must have the folder with that owner, and the engine counts, which takes it seconds. Where a
    folder for sized homes is given, a home whose size is asked for has it."""

    def __init__(
        self, api: DockerApi, installation: str, sized: SizedHomes | None = None, *, reach: bool = True
    ) -> None:
        self._api = api
        self._installation = installation
        self._sized = sized
        self._reach = reach and os.geteuid() == 0
        self._measured: dict[str, int] = {}
        self._measured_at = -MEASURED_SECONDS
        self._measuring = asyncio.Lock()

    async def list(self, workspace_id: UUID | None = None) -> tuple[Volume, ...]:
        async with translated(LOOK_SECONDS):
            listed = await self._api.client.volumes.list(filters=labels.own(self._installation, workspace_id))
        return tuple(labels.volume(each) for each in listed["Volumes"] or ())

    async def create(self, spec: VolumeSpec) -> None:
        """The engine leaves one that is there as it is, and answers as if it had made it."""
        wanted: dict[str, Any] = {"Name": spec.name, "Labels": labels.of_spec(self._installation, spec)}
        if self._sized and spec.size_bytes:
            bound = await self._sized.make(spec.name, spec.size_bytes)
            wanted["DriverOpts"] = {"type": "none", "o": "bind", "device": str(bound)}
        async with translated():
            await self._api.client.volumes.create(wanted)
        try:
            folder = await self.require(spec.name)
        except NotFound:
            raise RuntimeFault(f"the name {spec.name} belongs to something else") from None
        if self._in_reach(folder):
            self._api.fence()
            os.chown(folder, USER, USER, follow_symlinks=False)

    async def ready(self, name: str) -> None:
        """Before a container is to hold it: it is there and ours, and mounted where it has to be."""
        await self.require(name)
        if self._sized:
            await self._sized.mount(name)

    async def delete(self, name: str) -> None:
        with suppress(NotFound):
            await self.require(name)
            async with translated():
                await (await self._api.client.volumes.get(name)).delete()
        if self._sized:
            await self._sized.remove(name)

    async def stand_ins(self) -> tuple[Volume, ...]:
        async with translated(LOOK_SECONDS):
            listed = await self._api.client.volumes.list(filters=labels.own_stand_ins(self._installation))
        return tuple(labels.volume(each) for each in listed["Volumes"] or ())

    async def remove_stand_in(self, name: str) -> None:
        with suppress(NotFound):
            found = await self._api.read(f"volumes/{name}")
            if (found["Labels"] or {}).get(labels.STAND_IN) == self._installation:
                async with translated():
                    await (await self._api.client.volumes.get(name)).delete()

    async def usage(self, name: str) -> int:
        folder = await self.require(name)
        sized = self._sized.usage(name) if self._sized else None
        if sized is not None:
            return sized
        if self._in_reach(folder):
            return await trees.size(folder)
        return await self._measured_by_engine(name)

    async def require(self, name: str) -> Path:
        """The folder of a home of ours. What another installation made, or nobody, is not there for us."""
        found = await self._api.read(f"volumes/{name}")
        if (found["Labels"] or {}).get(labels.INSTALLATION) != self._installation:
            raise NotFound(f"there is no volume {name}")
        return Path(found["Mountpoint"])

    def _in_reach(self, folder: Path) -> bool:
        return self._reach and folder.is_dir()

    async def _measured_by_engine(self, name: str) -> int:
        """The engine can only count everything it has, image by image and volume by volume. One answer therefore serves
        all questions of a minute."""
        async with self._measuring:
            if time.monotonic() - self._measured_at > MEASURED_SECONDS or name not in self._measured:
                counted = await self._api.read("system/df")
                self._measured = {each["Name"]: each["UsageData"]["Size"] for each in counted["Volumes"] or ()}
                self._measured_at = time.monotonic()
        if name not in self._measured:
            raise NotFound(f"there is no volume {name}")
        return max(self._measured[name], 0)
