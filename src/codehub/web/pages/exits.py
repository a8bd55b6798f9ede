"""Ways out for a workspace whose files are lost: the files of an archive, or an empty home. Both ask first."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from codehub.model.accounts import Caller
from codehub.model.shown import ShownWorkspace
from codehub.store import generations, listing
from codehub.web.api.archives import found
from codehub.web.api.schemas.archives import Restoration
from codehub.web.api.workspace_problems import NoArchive, NoSuchWorkspace
from codehub.web.api.workspace_requests import restore_workspace
from codehub.web.api.workspaces import whose
from codehub.web.idempotency import Once
from codehub.web.pages.actions import told
from codehub.web.pages.reading import Message, person, reading
from codehub.web.pages.refusing import said
from codehub.web.pages.render import form_page
from codehub.web.parts import parts_of
from codehub.web.problems import Refused

router = APIRouter(prefix="/workspaces/{workspace_id}", include_in_schema=False)

Sent = Annotated[str, Form(alias="csrf_token")]


@router.get("/restore")
async def ask_to_restore(request: Request, workspace_id: UUID, archive: UUID | None = None) -> Response:
    """From which archive; `archive` is the one that is proposed, otherwise the newest."""
    return await _restore_page(request, await person(request), workspace_id, archive)


@router.post("/restore")
async def restore(request: Request, workspace_id: UUID, token: Sent, archive: Annotated[UUID, Form()]) -> Response:
    caller = await parts_of(request).callers.identify_form(request, token)
    shown = await _own(request, caller, workspace_id)
    try:
        await restore_workspace(request, workspace_id, Restoration(archive_id=archive), caller, Once(request))
    except Refused as refusal:
        return await _restore_page(request, caller, workspace_id, archive, refusal)
    return told(request, caller, [Message("done.restore", {"name": shown.name})])


async def _restore_page(
    request: Request, caller: Caller, workspace_id: UUID, archive: UUID | None, refusal: Refused | None = None
) -> Response:
    shown = await _own(request, caller, workspace_id)
    async with parts_of(request).writes.connect() as connection:
        workspace = await found(connection, workspace_id, caller)
        archives = await generations.archives_of(connection, workspace)
    if not archives:
        raise NoArchive
    trouble = said(refusal, reading(request, caller.locale).language) if refusal is not None else ""
    return form_page(
        request,
        "restore.html",
        refusal.status if refusal is not None else 200,
        caller=caller,
        shown=shown,
        archives=archives,
        proposed=archive or archives[0].id,
        trouble=trouble,
    )


@router.get("/start_empty")
async def ask_to_start_empty(request: Request, workspace_id: UUID) -> Response:
    """What is given up with it. The form goes where every deed goes (`actions.py`)."""
    caller = await person(request)
    shown = await _own(request, caller, workspace_id)
    return form_page(request, "start_empty.html", caller=caller, shown=shown)


async def _own(request: Request, caller: Caller, workspace_id: UUID) -> ShownWorkspace:
    shown = await listing.one(parts_of(request).reads, workspace_id, whose(caller))
    if shown is None:
        raise NoSuchWorkspace
    return shown
