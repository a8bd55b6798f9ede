"""Homes with something in them, and whether it is still there."""

import hashlib
import json
from pathlib import Path
from signal import SIGSTOP
from uuid import UUID

from codehub.archives.object_store import ObjectStore
from codehub.decide.wish import is_carried_out
from codehub.job.order import Kind
from codehub.job.progress import Stage
from codehub.model.states import Desired, Phase, Step
from codehub.model.workspace import Workspace
from codehub.runtimes.memory_disk import Trip
from tests.coordinators.house import House, until

Content = dict[str, str]
"""Every file of a home, by the hash of what is in it."""


def home_of(house: House, row: Workspace) -> Path:
    assert row.home_volume is not None
    return house.engine.home(row.home_volume)


def content(folder: Path) -> Content:
    files = (each for each in folder.rglob("*") if each.is_file())
    return {str(each.relative_to(folder)): hashlib.sha256(each.read_bytes()).hexdigest() for each in files}


def furnish(folder: Path) -> Content:
    (folder / "project").mkdir()
    (folder / "project" / "notes.txt").write_text("not to be lost\n")
    (folder / "project" / "data").write_bytes(bytes(range(256)) * 1000)
    return content(folder)


async def furnished(house: House) -> tuple[UUID, Content]:
    """A workspace that stands by, with something in its home."""
    workspace_id = await house.create(Desired.STANDBY)
    return workspace_id, furnish(home_of(house, await house.until_phase(workspace_id, Phase.STANDBY)))


async def archived(house: House) -> tuple[UUID, Content]:
    """One that sleeps in the store."""
    workspace_id, before = await furnished(house)
    await house.wish(workspace_id, Desired.ARCHIVED)
    await house.until_phase(workspace_id, Phase.ARCHIVED)
    return workspace_id, before


async def opened(house: House, workspace_id: UUID) -> Content:
    """What is in the home once it is there again."""
    await house.wish(workspace_id, Desired.STANDBY)
    return content(home_of(house, await house.until_phase(workspace_id, Phase.STANDBY)))


async def settled(house: House, workspace_id: UUID) -> Workspace:
    """Its row, once what was wished and asked for is done."""

    async def done() -> Workspace | None:
        row = await house.row(workspace_id)
        return row if is_carried_out(row, row.desired_state) else None

    return await until(done, 60)


def hold(house: House, kind: Kind, at: Stage | str) -> None:
    """The next job of this kind stops in the middle, until `release_jobs`."""
    house.engine.trips.append(Trip(kind, at, SIGSTOP))


async def held(house: House, workspace_id: UUID, step: Step, at: Stage | str) -> None:
    """A job of this workspace is in the middle of this step, where it was to be held."""
    told = json.dumps({"stage": at})[1:-1] if at in list(Stage) else json.dumps(at)

    async def stopped() -> bool | None:
        jobs = [each for each in house.engine.disk.jobs.values() if each.spec.workspace_id == workspace_id]
        here = any(each.is_held and told in each.log.read_text() for each in jobs)
        return ((await house.row(workspace_id)).op_step is step and here) or None

    await until(stopped, 60)


async def keys_of(store: ObjectStore, workspace_id: UUID) -> list[str]:
    """Archives and markers of a workspace."""
    return sorted([info.key async for info in store.list(f"{workspace_id}/")])
