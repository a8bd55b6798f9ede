"""Who leads, in the whole installation."""

from fastapi import APIRouter, Request, Response

from codehub.store.overview import offices
from codehub.web.api.answers import answer
from codehub.web.api.refusals import refusals
from codehub.web.api.schemas.overview import Coordinators
from codehub.web.callers import Administrator
from codehub.web.parts import parts_of

router = APIRouter(prefix="/admin", tags=["administration"])


@router.get("/coordinators", response_model=Coordinators, responses=refusals(401, 403))
async def list_coordinators(request: Request, _caller: Administrator) -> Response:
    """Each part of the work that one process does for all, and which."""
    return answer({"items": await offices(parts_of(request).reads)})
