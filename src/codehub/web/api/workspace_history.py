"""What happened to a workspace."""

from uuid import UUID

from fastapi import APIRouter, Request, Response

from codehub.store import listing
from codehub.web import paging
from codehub.web.api.answers import answer
from codehub.web.api.refusals import refusals
from codehub.web.api.schemas.workspaces import WorkspaceEventPage
from codehub.web.api.workspace_problems import NoSuchWorkspace
from codehub.web.callers import Reader
from codehub.web.paging import Cursor, Limit
from codehub.web.parts import parts_of

router = APIRouter(tags=["workspaces"])


@router.get(
    "/workspaces/{workspace_id}/events", response_model=WorkspaceEventPage, responses=refusals(401, 403, 404, 422)
)
async def list_workspace_events(
    request: Request, workspace_id: UUID, caller: Reader, cursor: Cursor = None, limit: Limit = 50
) -> Response:
    """Its story, newest first: every wish, phase, operation and failure. Also of a deleted one, while it is kept."""
    reads = parts_of(request).reads
    owner = await listing.owner_of(reads, workspace_id)
    if owner is None or not (owner == caller.user_id or caller.administers):
        raise NoSuchWorkspace
    found = await listing.history(reads, workspace_id, paging.number(cursor), limit + 1)
    shown, last = paging.cut(found, limit)
    return answer({"items": shown, "next": paging.before(last["id"]) if last is not None else None})
