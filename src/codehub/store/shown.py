"""Reading workspaces for people: one query shape, for every list, single answer and event."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import ColumnElement, RowMapping, case, func, or_, select
from sqlalchemy.dialects.postgresql.asyncpg import dialect

from codehub.model.activity import Kind
from codehub.model.shown import Restorable, ShownArchive, ShownWorkspace
from codehub.model.states import Desired, ErrorReason, ImageState, Operation, Phase, Step
from codehub.model.workspace import RequestKind
from codehub.store.tables import archives, templates, users, workspaces

_other = archives.alias("other")
_RESTORABLE = (
    select(func.jsonb_build_object("count", func.count(), "newest", func.max(_other.c.made_at)))
    .where(
        or_(_other.c.workspace_id == workspaces.c.id, _other.c.key == workspaces.c.archive_key),
        or_(workspaces.c.home_volume.is_not(None), _other.c.key.is_distinct_from(workspaces.c.archive_key)),
    )
    .correlate(workspaces)
    .scalar_subquery()
)
"""Where the row names no volume, the current archive is the home, and so what was lost if anything was."""
_DERIVED: tuple[ColumnElement[Any], ...] = (
    users.c.login.label("owner_login"),
    templates.c.name.label("template_name"),
    templates.c.status.label("image"),
    workspaces.c.request.op("->>")("kind").label("request"),
    func.cardinality(workspaces.c.recent_deaths).label("deaths"),
    func.coalesce(workspaces.c.standby_after_seconds, templates.c.standby_after_seconds).label("standby_after_seconds"),
    func.coalesce(workspaces.c.archive_after_seconds, templates.c.archive_after_seconds).label("archive_after_seconds"),
    workspaces.c.standby_after_seconds.label("standby_override_seconds"),
    workspaces.c.archive_after_seconds.label("archive_override_seconds"),
    archives.c.made_at.label("archive"),
    archives.c.generation.label("archive_number"),
    archives.c.size.label("archive_size"),
    archives.c.entries.label("archive_entries"),
    case((workspaces.c.phase == Phase.ERROR, _RESTORABLE)).label("restorable"),
)
_STORED = {field.name for field in fields(ShownWorkspace)} - {column.key for column in _DERIVED}
SHOWN_COLUMNS = (*(column for column in workspaces.c if column.name in _STORED), *_DERIVED)
SHOWN_FROM = (
    workspaces.join(users, users.c.id == workspaces.c.owner_user_id)
    .outerjoin(templates, templates.c.id == workspaces.c.template_id)
    .outerjoin(archives, archives.c.key == workspaces.c.archive_key)
)
SHOWN = select(*SHOWN_COLUMNS).select_from(SHOWN_FROM)
"""Of deleted ones too, unless the caller leaves them out."""
SHOWN_SQL = str(SHOWN.compile(dialect=dialect(), compile_kwargs={"literal_binds": True}))  # type: ignore[no-untyped-call]
"""The same for the driver itself; `WHERE` and the rest follow, with the tables called by their names."""


_KINDS: Mapping[str | None, Kind] = {kind.value: kind for kind in Kind}
"""A word of a later release is not among them, and then is not known."""


def to_shown(row: Mapping[str, Any] | RowMapping) -> ShownWorkspace:
    """From a row of either: the driver alone leaves JSON as text."""
    image, request, step, error = row["image"], row["request"], row["op_step"], row["error_reason"]
    return ShownWorkspace(
        id=row["id"],
        owner_user_id=row["owner_user_id"],
        owner_login=row["owner_login"],
        name=row["name"],
        description=row["description"],
        memo=row["memo"],
        template_id=row["template_id"],
        template_name=row["template_name"],
        image=ImageState(image) if image is not None else None,
        git_url=row["git_url"],
        resources=_json(row["resources"]),
        desired_state=Desired(row["desired_state"]),
        desired_reason=row["desired_reason"],
        desired_by=row["desired_by"],
        request=RequestKind(request) if request is not None else None,
        phase=Phase(row["phase"]),
        phase_changed_at=row["phase_changed_at"],
        operation=Operation(row["operation"]),
        op_id=row["op_id"],
        op_step=Step(step) if step is not None else None,
        op_started_at=row["op_started_at"],
        op_attempt=row["op_attempt"],
        error_reason=ErrorReason(error) if error is not None else None,
        error_count=row["error_count"],
        next_attempt_at=row["next_attempt_at"],
        deaths=row["deaths"],
        standby_after_seconds=row["standby_after_seconds"],
        archive_after_seconds=row["archive_after_seconds"],
        standby_override_seconds=row["standby_override_seconds"],
        archive_override_seconds=row["archive_override_seconds"],
        last_access_at=row["last_access_at"],
        last_activity=_KINDS.get(row["last_activity"]),
        held_until=row["held_until"],
        hold_reason=row["hold_reason"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        revision=row["revision"],
        deleted_at=row["deleted_at"],
        archive=_archive(row) if row["archive"] is not None else None,
        restorable=_restorable(_json(row["restorable"])),
    )


def _json(value: Any) -> Any:  # noqa: ANN401 (whatever a column holds)
    return orjson.loads(value) if isinstance(value, str) else value


def _archive(row: Mapping[str, Any] | RowMapping) -> ShownArchive:
    return ShownArchive(row["archive_number"], row["archive"], row["archive_size"], row["archive_entries"])


def _restorable(found: Mapping[str, Any] | None) -> Restorable | None:
    if found is None or not found["count"]:
        return None
    return Restorable(found["count"], datetime.fromisoformat(found["newest"]))
