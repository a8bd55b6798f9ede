"""A home goes to sleep in the archive store and comes back as it was, through real coordinators and real jobs."""

import hashlib
from pathlib import Path
from uuid import UUID

from codehub.archives.object_store import ObjectStore
from codehub.model.states import Desired, Phase
from codehub.model.workspace import Workspace
from tests.coordinators.house import House


def home_of(house: House, row: Workspace) -> Path:
    assert row.home_volume is not None
    return house.engine.home(row.home_volume)


def content(folder: Path) -> dict[str, str]:
    """Every file of a home, by what is in it."""
    files = (each for each in folder.rglob("*") if each.is_file())
    return {str(each.relative_to(folder)): hashlib.sha256(each.read_bytes()).hexdigest() for each in files}


def furnish(folder: Path) -> dict[str, str]:
    (folder / "project").mkdir()
    (folder / "project" / "notes.txt").write_text("not to be lost\n")
    (folder / "project" / "data").write_bytes(bytes(range(256)) * 1000)
    return content(folder)


async def keys_of(store: ObjectStore) -> list[str]:
    return sorted([info.key async for info in store.list()])


async def furnished(house: House) -> tuple[UUID, dict[str, str]]:
    """A workspace that stands by, with something in its home."""
    workspace_id = await house.create(Desired.STANDBY)
    return workspace_id, furnish(home_of(house, await house.until_phase(workspace_id, Phase.STANDBY)))


async def test_a_home_is_archived_and_comes_back_as_it_was(house: House) -> None:
    house.replica()
    workspace_id = await house.create()
    before = furnish(home_of(house, await house.until_phase(workspace_id, Phase.RUNNING)))
    await house.wish(workspace_id, Desired.ARCHIVED)
    archived = await house.until_phase(workspace_id, Phase.ARCHIVED)
    assert (archived.home_volume, archived.op_volume) == (None, None)
    assert not house.engine.homes
    assert archived.archive_key is not None
    assert {archived.archive_key, f"{archived.archive_key}.meta"} <= set(await keys_of(house.store))
    await house.wish(workspace_id, Desired.RUNNING)
    running = await house.until_phase(workspace_id, Phase.RUNNING)
    assert content(home_of(house, running)) == before
    assert running.restore_marker == archived.archive_key
    assert not house.engine.disk.jobs


async def test_a_workspace_that_never_ran_is_archived_and_opens_empty(house: House) -> None:
    house.replica()
    workspace_id = await house.create(Desired.ARCHIVED)
    archived = await house.until_phase(workspace_id, Phase.ARCHIVED)
    assert not house.engine.homes
    await house.wish(workspace_id, Desired.RUNNING)
    running = await house.until_phase(workspace_id, Phase.RUNNING)
    assert content(home_of(house, running)) == {}
    assert running.restore_marker == archived.archive_key
