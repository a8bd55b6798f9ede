"""Everybody's workspaces, for administrators, who act on each of them by its id as its owner does."""

from fastapi import APIRouter, Request, Response

from codehub.web.api.refusals import refusals
from codehub.web.api.schemas.filters import FilterOfAll
from codehub.web.api.schemas.workspaces import WorkspacePage
from codehub.web.api.workspaces import a_page
from codehub.web.callers import Administrator

router = APIRouter(prefix="/admin", tags=["administration"])


@router.get("/workspaces", response_model=WorkspacePage, responses=refusals(401, 403, 422))
async def list_all_workspaces(request: Request, narrowed: FilterOfAll, _caller: Administrator) -> Response:
    """All living workspaces, newest first. `next` says where the next page begins."""
    return await a_page(request, narrowed.wanted(narrowed.owner))
