"""The whole of `/api/v1`: one module per resource, each listed here."""

from typing import Any

from fastapi import APIRouter, FastAPI

from codehub.web.api import (
    account,
    admin_audit,
    admin_coordinators,
    admin_gc,
    admin_limits,
    admin_templates,
    admin_users,
    admin_workspaces,
    archive_download,
    archives,
    auth,
    events,
    holds,
    sessions,
    templates,
    tokens,
    workspace_changes,
    workspace_history,
    workspace_logs,
    workspace_requests,
    workspace_usage,
    workspaces,
)
from codehub.web.api.schemas.problem import Problem

PREFIX = "/api/v1"

# Looked through from the top with every request: what is asked for most stands first.
routers: list[APIRouter] = [
    workspaces.router,
    workspace_changes.router,
    auth.router,
    account.router,
    sessions.router,
    tokens.router,
    admin_users.router,
    admin_audit.router,
    workspace_history.router,
    workspace_logs.router,
    workspace_usage.router,
    workspace_requests.router,
    archives.router,
    archive_download.router,
    holds.router,
    templates.router,
    events.router,
    admin_workspaces.router,
    admin_templates.router,
    admin_coordinators.router,
    admin_limits.router,
    admin_gc.router,
]


SECURITY = {
    "token": {"type": "http", "scheme": "bearer", "description": "An API token: `codehub_...`."},
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "codehub",
        "description": "A browser session; under https the cookie is called `__Host-codehub`. What changes something"
        " also needs `X-CSRF-Token`, as `GET /me` tells it.",
    },
}


def install(app: FastAPI) -> None:
    for router in routers:
        app.include_router(router, prefix=PREFIX)
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        """FastAPI knows only models that a route answers with; problems are of a media type of their own."""
        document = describe()
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas.setdefault("Problem", Problem.model_json_schema())
        document["components"].setdefault("securitySchemes", SECURITY)
        document.setdefault("security", [{name: []} for name in SECURITY])
        return document

    app.openapi = openapi  # type: ignore[method-assign]
