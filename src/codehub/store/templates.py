"""Templates: what workspaces are made from."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg
import orjson
from sqlalchemy import Row, Text, cast, delete, exists, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.model.states import ImageState
from codehub.store.reads import Reads
from codehub.store.tables import templates, workspaces

_COLUMNS = (
    *("id", "name", "description", "image_ref", "status", "status_detail", "port", "health_path", "strip_prefix"),
    *("environment", "resources", "standby_after_seconds", "archive_after_seconds", "built_in"),
    *("created_at", "updated_at"),
)
_ALL = f"SELECT {', '.join(_COLUMNS)} FROM templates ORDER BY name"  # noqa: S608 (our own names)
_SHOWN = tuple(templates.c[name] for name in _COLUMNS)


@dataclass(frozen=True, slots=True)
class ShownTemplate:
    id: UUID
    name: str
    description: str
    image_ref: str | None
    status: ImageState
    status_detail: str
    port: int
    health_path: str
    strip_prefix: bool
    environment: Mapping[str, str]
    resources: Mapping[str, float]
    standby_after_seconds: int | None
    archive_after_seconds: int | None
    built_in: bool
    created_at: datetime
    updated_at: datetime


class TemplateInUse(Exception):
    """There are workspaces that run it."""


async def all_templates(reads: Reads) -> list[ShownTemplate]:
    return [_from_driver(row) for row in await reads.fetch(_ALL)]


async def find(connection: AsyncConnection, name_or_id: str) -> ShownTemplate | None:
    """By name, or by id as it is usually written."""
    identified = cast(templates.c.id, Text) == name_or_id.lower()
    row = (await connection.execute(select(*_SHOWN).where(or_(templates.c.name == name_or_id, identified)))).first()
    return _shown(row) if row is not None else None


async def held(connection: AsyncConnection, template_id: UUID) -> ShownTemplate | None:
    """As it is, and until the end of the transaction nobody else changes it."""
    row = (await connection.execute(select(*_SHOWN).where(templates.c.id == template_id).with_for_update())).first()
    return _shown(row) if row is not None else None


async def create(connection: AsyncConnection, template_id: UUID, values: Mapping[str, object]) -> ShownTemplate | None:
    """One that an administrator makes of an image that exists, so it is ready: the engine fetches the image when it is
    first needed. None where the name is taken."""
    new = insert(templates).values(id=template_id, status=ImageState.READY, built_in=False, **values)
    row = (await connection.execute(new.on_conflict_do_nothing(index_elements=["name"]).returning(*_SHOWN))).first()
    return _shown(row) if row is not None else None


async def change(connection: AsyncConnection, template_id: UUID, values: Mapping[str, object]) -> ShownTemplate:
    """Holds for workspaces that are started from now on."""
    changed = update(templates).where(templates.c.id == template_id)
    row = (
        await connection.execute(changed.values(**values, updated_at=func.clock_timestamp()).returning(*_SHOWN))
    ).one()
    return _shown(row)


async def remove(connection: AsyncConnection, template_id: UUID) -> None:
    """Raises TemplateInUse. Deleted workspaces, whose rows are kept for a while, let go of it."""
    mine = workspaces.c.template_id == template_id
    await connection.execute(
        update(workspaces).where(mine, workspaces.c.deleted_at.isnot(None)).values(template_id=None)
    )
    if (await connection.execute(select(exists().where(mine)))).scalar():
        raise TemplateInUse
    await connection.execute(delete(templates).where(templates.c.id == template_id))


def _from_driver(row: asyncpg.Record) -> ShownTemplate:
    """The driver alone leaves JSON as text."""
    values = dict(row)
    environment, resources = orjson.loads(values.pop("environment")), orjson.loads(values.pop("resources"))
    status = ImageState(values.pop("status"))
    return ShownTemplate(environment=environment, resources=resources, status=status, **values)


def _shown(row: Row[Any]) -> ShownTemplate:
    values = row._asdict()
    return ShownTemplate(status=ImageState(values.pop("status")), **values)
