"""What a workspace used in the last hour, as the Observer has looked at it."""

from dataclasses import asdict
from uuid import UUID

from fastapi import APIRouter, Request, Response

from codehub.store import listing
from codehub.web.api.answers import answer
from codehub.web.api.refusals import refusals
from codehub.web.api.schemas.usage import WorkspaceUsage
from codehub.web.api.workspace_problems import NoSuchWorkspace
from codehub.web.api.workspaces import whose
from codehub.web.callers import Reader
from codehub.web.parts import parts_of

router = APIRouter(tags=["workspaces"])


@router.get("/workspaces/{workspace_id}/usage", response_model=WorkspaceUsage, responses=refusals(401, 403, 404, 422))
async def get_workspace_usage(request: Request, workspace_id: UUID, caller: Reader) -> Response:
    """What it used in the last hour, oldest first. It is looked at while it runs; nothing of it is kept for long, so
    that there may be gaps, or nothing at all."""
    parts = parts_of(request)
    if await listing.one(parts.reads, workspace_id, whose(caller)) is None:
        raise NoSuchWorkspace
    samples = await parts.usage.series(workspace_id)
    every = parts.settings.coordinator.usage_interval
    return answer({"every_seconds": every, "samples": [asdict(each) for each in samples]})
