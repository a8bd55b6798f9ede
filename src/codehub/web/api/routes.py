"""The whole of `/api/v1`: one module per resource, each listed here."""

from typing import Any

from fastapi import APIRouter, FastAPI

from codehub.web.api import (
    account,
    admin_audit,
    admin_coordinators,
    admin_limits,
    admin_templates,
    admin_users,
    admin_workspaces,
    auth,
    events,
    sessions,
    templates,
    tokens,
    workspace_changes,
    workspace_history,
    workspace_logs,
    workspaces,
)
from codehub.web.api.schemas.problem import Problem

PREFIX = "/api/v1"

routers: list[APIRouter] = [
    auth.router,
    account.router,
    sessions.router,
    tokens.router,
    admin_users.router,
    admin_audit.router,
    workspaces.router,
    workspace_changes.router,
    workspace_history.router,
    workspace_logs.router,
    templates.router,
    events.router,
    admin_workspaces.router,
    admin_templates.router,
    admin_coordinators.router,
    admin_limits.router,
]


def install(app: FastAPI) -> None:
    for router in routers:
        app.include_router(router, prefix=PREFIX)
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        """FastAPI knows only models that a route answers with; problems are of a media type of their own."""
        document = describe()
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas.setdefault("Problem", Problem.model_json_schema())
        return document

    app.openapi = openapi  # type: ignore[method-assign]
