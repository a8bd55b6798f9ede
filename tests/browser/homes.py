"""The homes of the workspaces that run behind the dashboard, which is shown in the tests as folders of this machine."""

import shutil
from pathlib import Path
from uuid import UUID

from tests.front_door.house import House, Person

PATIENCE_SECONDS = 150.0
"""For a home that is moved on a machine that does much else."""
NAMED = "SELECT home_volume FROM workspaces WHERE id = $1"


async def home_of(codehub: House, workspace_id: UUID) -> Path:
    """The folder of its files, as long as it is not archived."""
    volume = await codehub.fetchval(NAMED, workspace_id)
    (found,) = codehub.data.glob(f"**/{volume}/home")
    return found


async def archived(person: Person, workspace_id: UUID) -> None:
    await person.call("POST", f"/workspaces/{workspace_id}/archive")
    await person.until_phase(workspace_id, "ARCHIVED", PATIENCE_SECONDS)


async def lose_home(person: Person, workspace_id: UUID) -> None:
    """As a disk does that breaks; what was archived before stays."""
    await person.call("POST", f"/workspaces/{workspace_id}/stop")
    await person.until_phase(workspace_id, "STANDBY")
    shutil.rmtree((await home_of(person.house, workspace_id)).parent)
    await person.until_phase(workspace_id, "ERROR", PATIENCE_SECONDS)
