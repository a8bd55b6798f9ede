"""All pages for administrators."""

from fastapi import APIRouter

from codehub.web.health import Readiness
from codehub.web.pages import (
    admin_audit,
    admin_collector,
    admin_coordinators,
    admin_overview,
    admin_templates,
    admin_users,
    admin_workspaces,
)

PAGES = (admin_users, admin_workspaces, admin_coordinators, admin_collector, admin_templates, admin_audit)


def routes(readiness: Readiness) -> APIRouter:
    router = APIRouter()
    router.include_router(admin_overview.routes(readiness))
    for page in PAGES:
        router.include_router(page.router)
    return router
