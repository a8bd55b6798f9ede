"""Workspaces that shall be different: other words, other wishes."""

from typing import Annotated, Any
from uuid import UUID

import asyncpg
from fastapi import APIRouter, Body, Request, Response
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.model.accounts import Caller
from codehub.model.shown import ShownWorkspace
from codehub.model.states import Desired
from codehub.model.workspace import RequestKind
from codehub.store import listing
from codehub.store.descriptions import Description, describe, describe_with
from codehub.web.api.answers import one_workspace
from codehub.web.api.refusals import BODY, refusals
from codehub.web.api.schemas.wishes import Recovery, WorkspaceChange
from codehub.web.api.schemas.workspace import Workspace
from codehub.web.api.workspace_problems import NameTaken, NoSuchWorkspace
from codehub.web.api.workspaces import refuse_above_ceiling, whose
from codehub.web.callers import Worker
from codehub.web.etags import Changed, IfMatch, revisions
from codehub.web.idempotency import OnlyOnce, Work
from codehub.web.parts import Parts, parts_of
from codehub.web.wishing import Wishing

router = APIRouter(tags=["workspaces"])

WISHED: dict[int | str, dict[str, Any]] = {
    200: {"model": Workspace, "description": "It is so already."},
    202: {"model": Workspace, "description": "The wish is stored, and will be carried out."},
}
ASKED = refusals(401, 403, 404, 409, 422)
ASKED_TO_RUN = refusals(401, 403, 404, 409, 422, 429)


@router.patch(
    "/workspaces/{workspace_id}",
    response_model=Workspace,
    responses={202: WISHED[202], **refusals(*BODY, 401, 403, 404, 409, 412, 429)},
)
async def change_workspace(
    request: Request, workspace_id: UUID, body: WorkspaceChange, caller: Worker, if_match: IfMatch = None
) -> Response:
    """Change some fields, the wish among them. With `If-Match` only if nobody else changed it since it was read."""
    parts = parts_of(request)
    refuse_above_ceiling(parts.settings, body.standby_after_seconds, body.archive_after_seconds)
    new = Description(workspace_id, body.described(), revisions(if_match), whose(caller))
    if body.desired_state is not None:
        return await _changed_with_wish(request, caller, new, body.desired_state)
    try:
        shown = await (describe(parts.reads, new) if new.columns else _as_it_is(parts, new))
    except asyncpg.UniqueViolationError as error:
        raise NameTaken from error
    return await one_workspace(parts, shown or await _why_not(parts, new))


async def _as_it_is(parts: Parts, new: Description) -> ShownWorkspace | None:
    """Nothing is to change, and so nothing is written."""
    found = await listing.one(parts.reads, new.workspace_id, new.owner_user_id)
    return found if found is not None and (new.revisions is None or found.revision in new.revisions) else None


async def _why_not(parts: Parts, new: Description) -> ShownWorkspace:
    if await listing.one(parts.reads, new.workspace_id, new.owner_user_id) is None:
        raise NoSuchWorkspace
    raise Changed("It was changed since you read it. Read it again, then decide.")


async def _changed_with_wish(request: Request, caller: Caller, new: Description, desired: Desired) -> Response:
    """Words and wish in one transaction: both, or neither."""
    parts = parts_of(request)
    async with parts.writes.begin() as connection:
        wishing = Wishing(request, caller, connection)
        workspace = await wishing.found(new.workspace_id)
        try:
            shown = await describe_with(connection, new) if new.columns else await _unless_changed(connection, new)
        except IntegrityError as error:
            raise NameTaken from error
        if shown is None:
            raise Changed("It was changed since you read it. Read it again, then decide.")
        done = await wishing.wish(workspace, desired)
        shown = await listing.one_with(connection, new.workspace_id)
    return await one_workspace(parts, shown, 200 if done else 202)


async def _unless_changed(connection: AsyncConnection, new: Description) -> ShownWorkspace | None:
    found = await listing.one_with(connection, new.workspace_id)
    return found if new.revisions is None or found.revision in new.revisions else None


@router.post(
    "/workspaces/{workspace_id}/start", status_code=202, response_model=Workspace, responses={**WISHED, **ASKED_TO_RUN}
)
async def start_workspace(request: Request, workspace_id: UUID, caller: Worker, once: OnlyOnce) -> Response:
    """Wish it RUNNING. While something else is under way, the wish is stored and follows it."""
    return await once(caller, _wish(request, caller, workspace_id, Desired.RUNNING))


@router.post(
    "/workspaces/{workspace_id}/stop", status_code=202, response_model=Workspace, responses={**WISHED, **ASKED}
)
async def stop_workspace(request: Request, workspace_id: UUID, caller: Worker, once: OnlyOnce) -> Response:
    """Wish it STANDBY: its container ends, its home stays."""
    return await once(caller, _wish(request, caller, workspace_id, Desired.STANDBY))


@router.post(
    "/workspaces/{workspace_id}/archive", status_code=202, response_model=Workspace, responses={**WISHED, **ASKED}
)
async def archive_workspace(request: Request, workspace_id: UUID, caller: Worker, once: OnlyOnce) -> Response:
    """Wish it ARCHIVED: its home is packed into the archive store, read back and proven whole, and its volume freed. A
    start calls that off, up to the moment in which the volume is let go of."""
    return await once(caller, _wish(request, caller, workspace_id, Desired.ARCHIVED))


def _wish(request: Request, caller: Caller, workspace_id: UUID, desired: Desired) -> Work:
    async def work(connection: AsyncConnection) -> Response:
        wishing = Wishing(request, caller, connection)
        done = await wishing.wish(await wishing.found(workspace_id), desired)
        shown = await listing.one_with(connection, workspace_id)
        return await one_workspace(parts_of(request), shown, 200 if done else 202)

    return work


@router.post(
    "/workspaces/{workspace_id}/recover",
    status_code=202,
    response_model=Workspace,
    responses=refusals(*BODY, 401, 403, 404, 409, 429),
)
async def recover_workspace(
    request: Request,
    workspace_id: UUID,
    caller: Worker,
    once: OnlyOnce,
    body: Annotated[Recovery | None, Body(description="How to go on; may be left out.")] = None,
) -> Response:
    """Go on with a workspace in ERROR. Its place among the running ones is taken at once, if it is wished RUNNING."""
    kind = RequestKind.START_EMPTY if body is not None and body.start_empty else RequestKind.RECOVER

    async def work(connection: AsyncConnection) -> Response:
        wishing = Wishing(request, caller, connection)
        await wishing.recover(await wishing.found(workspace_id), kind)
        return await one_workspace(parts_of(request), await listing.one_with(connection, workspace_id), 202)

    return await once(caller, work)
