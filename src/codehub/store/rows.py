"""Between rows and the model: how a workspace, its conditions and its request stand in the database."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row

from codehub.model.conditions import CONDITION_NAMES, Condition, Conditions, Endpoint, Reason, Status
from codehub.model.states import Desired, ErrorReason, ImageState, Operation, Phase, Step
from codehub.model.templates import Template
from codehub.model.workspace import Request, RequestKind, Workspace
from codehub.store.tables import Json, workspaces

_NAMES = {field.name for field in fields(Workspace)} - {"restore_marker", "sent"} | {"home_ctx"}
WORKSPACE_COLUMNS = tuple(column for column in workspaces.c if column.name in _NAMES)
"""What a decision needs of a row."""


def to_workspace(row: Row[Any]) -> Workspace:
    return Workspace(
        id=row.id,
        owner_user_id=row.owner_user_id,
        name=row.name,
        created_at=row.created_at,
        desired_state=Desired(row.desired_state),
        template_id=row.template_id,
        deleted_at=row.deleted_at,
        request=to_request(row.request) if row.request is not None else None,
        last_access_at=row.last_access_at,
        standby_after_seconds=row.standby_after_seconds,
        archive_after_seconds=row.archive_after_seconds,
        git_url=row.git_url,
        resources=row.resources,
        conditions=to_conditions(row.conditions),
        observed_at=row.observed_at,
        phase=Phase(row.phase),
        phase_changed_at=row.phase_changed_at,
        operation=Operation(row.operation),
        op_id=row.op_id,
        op_started_at=row.op_started_at,
        op_clock_at=row.op_clock_at,
        op_step=Step(row.op_step) if row.op_step is not None else None,
        op_attempt=row.op_attempt,
        op_volume=row.op_volume,
        acted_at=row.acted_at,
        home_volume=row.home_volume,
        archive_key=row.archive_key,
        archive_op_id=row.archive_op_id,
        restore_marker=row.home_ctx.get("restore_marker"),
        sent=row.home_ctx.get("sent"),
        error_reason=ErrorReason(row.error_reason) if row.error_reason is not None else None,
        error_count=row.error_count,
        next_attempt_at=row.next_attempt_at,
        recent_deaths=tuple(row.recent_deaths),
        judged_at=row.judged_at,
    )


def to_template(row: Row[Any]) -> Template:
    return Template(
        id=row.id,
        name=row.name,
        image=row.image_ref,
        state=ImageState(row.status),
        port=row.port,
        health_path=row.health_path,
        strip_prefix=row.strip_prefix,
        environment=row.environment,
        resources=row.resources,
    )


def to_request(stored: Mapping[str, Any]) -> Request:
    return Request(RequestKind(stored["kind"]), UUID(stored["id"]), stored["actor"], stored.get("archive_key"))


def from_request(request: Request) -> Json:
    stored: Json = {"kind": request.kind, "id": str(request.id), "actor": request.actor}
    return stored if request.archive_key is None else stored | {"archive_key": request.archive_key}


def to_conditions(stored: Mapping[str, Any]) -> Conditions:
    return Conditions(
        **{field: _to_condition(stored[name]) for field, name in CONDITION_NAMES.items() if name in stored}
    )


def from_conditions(conditions: Conditions) -> Json:
    named = {name: getattr(conditions, field) for field, name in CONDITION_NAMES.items()}
    return {name: _from_condition(condition) for name, condition in named.items() if condition is not None}


def _to_condition(stored: Mapping[str, Any]) -> Condition:
    endpoint = stored.get("endpoint")
    return Condition(
        status=Status(stored["status"]),
        reason=Reason(stored["reason"]),
        message=stored["message"],
        last_transition_time=datetime.fromisoformat(stored["last_transition_time"]),
        subject=stored["subject"],
        observed_from=datetime.fromisoformat(stored["observed_from"]),
        endpoint=Endpoint(**endpoint) if endpoint is not None else None,
        surplus=tuple(stored.get("surplus", ())),
    )


def _from_condition(condition: Condition) -> Json:
    stored: Json = {
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "last_transition_time": condition.last_transition_time.isoformat(),
        "subject": condition.subject,
        "observed_from": condition.observed_from.isoformat(),
    }
    if condition.surplus:
        stored["surplus"] = list(condition.surplus)
    if condition.endpoint is None:
        return stored
    where = condition.endpoint
    return stored | {"endpoint": {"container_id": where.container_id, "address": where.address, "port": where.port}}
