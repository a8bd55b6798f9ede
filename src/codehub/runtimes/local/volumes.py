"""Homes as folders."""

import asyncio
import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from uuid import UUID

from codehub.runtimes import trees
from codehub.runtimes.errors import InUse, NotFound, RuntimeFault
from codehub.runtimes.local.edge import translated
from codehub.runtimes.local.folders import Folders
from codehub.runtimes.local.job_records import JobRecord
from codehub.runtimes.local.records import Record, write_whole
from codehub.runtimes.local.users import user_of
from codehub.runtimes.protocols import Volume, VolumeSpec

ABOUT = "volume.json"


class LocalVolumes:
    def __init__(self, folders: Folders, installation: str, fence: Callable[[], None]) -> None:
        self._folders = folders
        self._installation = installation
        self._fence = fence

    async def list(self, workspace_id: UUID | None = None) -> tuple[Volume, ...]:
        with translated():
            volumes = await asyncio.to_thread(self._listed)
        return tuple(each for each in volumes if workspace_id in (None, each.workspace_id))

    def _listed(self) -> Sequence[Volume]:
        found = []
        for folder in self._folders.volumes():
            with suppress(NotFound):  # deleted meanwhile, or not ours
                found.append(Volume(folder.name, UUID(self._about(folder.name)["workspace_id"])))
        return found

    def _about(self, name: str) -> dict[str, str]:
        """What is written down of a home of ours. What another installation made is not there for us."""
        self._folders.require()
        try:
            about: dict[str, str] = json.loads((self._folders.volume(name) / ABOUT).read_text())
        except FileNotFoundError:
            raise NotFound(f"there is no volume {name}") from None
        if about["installation"] != self._installation:
            raise NotFound(f"there is no volume {name}")
        return about

    async def create(self, spec: VolumeSpec) -> None:
        with translated():
            await asyncio.to_thread(self._create, spec)

    def _create(self, spec: VolumeSpec) -> None:
        final = self._folders.volume(spec.name)
        labels = {
            "installation": self._installation,
            "workspace_id": str(spec.workspace_id),
            "op_id": str(spec.op_id),
            "epoch": spec.epoch,
        }
        with self._folders.alone():
            if not final.exists():
                uid = user_of(spec.workspace_id, self._folders)
                self._fence()
                with self._folders.appearing(final) as folder:
                    write_whole(folder / ABOUT, json.dumps(labels))
                    home = folder / "home"
                    home.mkdir(mode=0o700)
                    if uid is not None:
                        os.chown(home, uid, uid)
        try:
            self._about(spec.name)
        except NotFound:
            raise RuntimeFault(f"the name {spec.name} belongs to another installation") from None

    async def delete(self, name: str) -> None:
        """Out of sight first, in one step: a home is there whole or not at all."""
        with translated():
            await asyncio.to_thread(self._throw_away, name)
            await trees.remove(await asyncio.to_thread(self._folders.thrown_away))

    def _throw_away(self, name: str) -> None:
        with suppress(NotFound), self._folders.alone():
            self._about(name)
            if self._held(name):
                raise InUse(f"the volume {name} is in use")
            self._fence()
            self._folders.throw_away(self._folders.volume(name))

    def _held(self, name: str) -> bool:
        """Also by an instance or a job that has ended: only its removal lets go of a home (contract 8)."""
        instances = map(Record.read, self._folders.instances())
        jobs = map(JobRecord.read, self._folders.jobs())
        return any(record is not None and record.plan.volume == name for record in (*instances, *jobs))

    async def stand_ins(self) -> tuple[Volume, ...]:
        """None: nothing is made here by itself."""
        return ()

    async def remove_stand_in(self, name: str) -> None:
        """There is none."""

    async def usage(self, name: str) -> int:
        with translated():
            return await trees.size(self.require(name))

    def require(self, name: str) -> Path:
        """The home's folder."""
        self._about(name)
        return self._folders.volume(name) / "home"
