"""The installation at a glance: how each part does, with what helps where one does not, and how much there is."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from codehub.model.states import Phase
from codehub.store.overview import glance
from codehub.store.templates import all_templates
from codehub.web.api import admin_gc
from codehub.web.api.admin_coordinators import all_offices, leading, services
from codehub.web.api.admin_limits import get_limits
from codehub.web.health import Readiness
from codehub.web.pages.admin_health import Known, conditions
from codehub.web.pages.administration import administrator, page
from codehub.web.pages.reading import reading
from codehub.web.parts import parts_of

PHASES = (Phase.RUNNING, Phase.STANDBY, Phase.ARCHIVED, Phase.PENDING, Phase.ERROR)


def routes(readiness: Readiness) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get("/admin")
    async def show_overview(request: Request) -> Response:
        caller, parts = await administrator(request), parts_of(request)
        state = await admin_gc.state(parts)
        known = Known(
            report=await readiness.report(),
            services=services(await leading(request)),
            offices=await all_offices(request),
            templates=await all_templates(parts.reads),
            alarms=[each["code"] for each in state["alarms"]],
        )
        return page(
            request,
            caller,
            "overview",
            conditions=conditions(known, reading(request, caller.locale).language),
            glance=await glance(parts.reads),
            limits=await get_limits(request, caller),
            collector=state,
            phases=PHASES,
        )

    return router
