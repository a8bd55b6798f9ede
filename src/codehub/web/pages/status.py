"""What is running here and how each part does: for whoever wonders why nothing goes on, also without an account."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from codehub.web.health import Readiness
from codehub.web.pages.render import form_page


def routes(readiness: Readiness) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.api_route("/status", methods=["GET", "HEAD"])
    async def show_status(request: Request) -> Response:
        return form_page(request, "status.html", report=await readiness.report())

    return router
