"""The templates that every installation has: which IDE, where it answers, what it may use; and their rows.

What codehub knows better than anybody (image, port, paths, state) is written at every start. What an administrator may
have changed (environment, resources, idle times) is written once, when the row is made.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID, uuid5

from aiodocker import Docker
from sqlalchemy import func, or_
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.images.dockerfile import Recipe
from codehub.images.engine import find_image
from codehub.images.local_ide import installed
from codehub.images.tools import CODE_SERVER, JUPYTERLAB, Tool
from codehub.model.states import ImageState
from codehub.store.tables import templates

NAMESPACE = UUID("6f1c0c6e-52a5-5c0e-9a44-0a6f1d1f7c55")
GIB = 1024**3
KNOWN_BETTER = ("description", "image_ref", "status", "status_detail", "port", "health_path", "strip_prefix")


@dataclass(frozen=True, slots=True)
class BuiltIn:
    tool: Tool
    environment: Mapping[str, str] = field(default_factory=dict)
    resources: Mapping[str, float] = field(
        default_factory=lambda: {"memory_bytes": 2 * GIB, "cpus": 2.0, "pids": 512, "disk_bytes": 10 * GIB}
    )
    standby_after_seconds: int | None = None
    """None is whatever the installation's settings say."""
    archive_after_seconds: int | None = None

    @property
    def name(self) -> str:
        return self.tool.name

    @property
    def id(self) -> UUID:
        """The same in every installation, so that a template can be named in documents and scripts."""
        return uuid5(NAMESPACE, self.name)


BUILT_IN: Mapping[str, BuiltIn] = {
    CODE_SERVER.name: BuiltIn(CODE_SERVER),
    # A kernel may compute for hours while nobody looks, and loses all of it when it is stopped.
    JUPYTERLAB.name: BuiltIn(JUPYTERLAB, standby_after_seconds=3 * 3600),
}


@dataclass(frozen=True, slots=True)
class Availability:
    """What a start would run, and whether it is there."""

    image: str
    state: ImageState
    detail: str = ""


async def on_engine(docker: Docker, tool: Tool, recipe: Recipe | None = None) -> Availability:
    """Whether the engine has the image. One that it has not is to be built: the caller begins that, and says so again
    when it is done or has failed."""
    tag = (recipe or Recipe(tool)).tag
    if await find_image(docker, tag) is not None:
        return Availability(tag, ImageState.READY)
    return Availability(tag, ImageState.BUILDING, "The image is being built.")


def on_this_machine(tool: Tool, ide_folder: Path) -> Availability:
    """Whether the tool is installed for the runtime without an engine, which knows tools by their names."""
    if installed(tool, ide_folder) is not None:
        return Availability(tool.name, ImageState.READY)
    return Availability(tool.name, ImageState.BUILDING, "The IDE is being installed.")


async def ensure_templates(connection: AsyncConnection, availability: Mapping[str, Availability]) -> None:
    """Write the rows of the templates that are named. A row that says so already is not touched, and neither is one
    that an administrator made under the same name. Call it again whenever a state changes."""
    for name, found in availability.items():
        row = _row(BUILT_IN[name], found)
        new = insert(templates).values(row)
        changed = or_(*(templates.c[column].is_distinct_from(new.excluded[column]) for column in KNOWN_BETTER))
        written = {column: new.excluded[column] for column in KNOWN_BETTER}
        await connection.execute(
            new.on_conflict_do_update(
                index_elements=[templates.c.name],
                set_={**written, "updated_at": func.clock_timestamp()},
                where=templates.c.built_in & changed,
            )
        )


def _row(template: BuiltIn, found: Availability) -> dict[str, object]:
    tool = template.tool
    return {
        "id": template.id,
        "name": template.name,
        "description": tool.description,
        "image_ref": found.image,
        "status": found.state.value,
        "status_detail": found.detail,
        "port": tool.port,
        "health_path": tool.health_path,
        "strip_prefix": tool.strip_prefix,
        "environment": dict(template.environment),
        "resources": dict(template.resources),
        "standby_after_seconds": template.standby_after_seconds,
        "archive_after_seconds": template.archive_after_seconds,
        "built_in": True,
        "created_at": func.clock_timestamp(),
        "updated_at": func.clock_timestamp(),
    }
