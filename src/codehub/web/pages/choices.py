"""What the pages in the place of a workspace lead to: a person decides, on our own origin."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from codehub.model.accounts import Caller
from codehub.model.shown import ShownWorkspace
from codehub.model.states import Desired
from codehub.model.workspace import RequestKind
from codehub.store.listing import one
from codehub.web.api.workspace_problems import NoSuchWorkspace
from codehub.web.pages.login import login_address
from codehub.web.pages.reading import reading
from codehub.web.pages.refusing import said
from codehub.web.pages.render import form_page
from codehub.web.parts import parts_of
from codehub.web.problems import NotLoggedIn, Refused
from codehub.web.wishing import Wishing

router = APIRouter(prefix="/workspaces/{workspace_id}", include_in_schema=False)

Sent = Annotated[str, Form(alias="csrf_token")]


@router.get("/recover")
async def ask_to_recover(request: Request, workspace_id: UUID) -> Response:
    return await _asked(request, workspace_id, "recover.html")


@router.post("/recover")
async def recover(request: Request, workspace_id: UUID, token: Sent) -> Response:
    caller = await parts_of(request).callers.identify_form(request, token)
    try:
        async with parts_of(request).writes.begin() as connection:
            wishing = Wishing(request, caller, connection)
            await wishing.recover(await wishing.found(workspace_id), RequestKind.RECOVER)
    except Refused as refusal:
        return await _shown(request, caller, workspace_id, "recover.html", refusal)
    return RedirectResponse(parts_of(request).origins.address(workspace_id), 303)


@router.get("/instead-of/{other_id}")
async def ask_to_open_instead(request: Request, workspace_id: UUID, other_id: UUID) -> Response:
    return await _asked(request, workspace_id, "instead.html", other_id)


@router.post("/instead-of/{other_id}")
async def open_instead(request: Request, workspace_id: UUID, other_id: UUID, token: Sent) -> Response:
    """Stop one and start another in its place, or neither."""
    caller = await parts_of(request).callers.identify_form(request, token)
    try:
        async with parts_of(request).writes.begin() as connection:
            wishing = Wishing(request, caller, connection)
            first, second = sorted((workspace_id, other_id))  # two at once wait for each other in one order
            found = {each: await wishing.found(each) for each in (first, second)}
            await wishing.wish(found[other_id], Desired.STANDBY)
            await wishing.wish(found[workspace_id], Desired.RUNNING)
    except Refused as refusal:
        return await _shown(request, caller, workspace_id, "instead.html", refusal, other_id)
    return RedirectResponse(parts_of(request).origins.address(workspace_id), 303)


async def _asked(request: Request, workspace_id: UUID, template: str, other_id: UUID | None = None) -> Response:
    try:
        caller = await parts_of(request).callers.identify(request)
    except NotLoggedIn:
        return RedirectResponse(login_address(request.url.path), 303)
    return await _shown(request, caller, workspace_id, template, None, other_id)


async def _shown(
    request: Request,
    caller: Caller,
    workspace_id: UUID,
    template: str,
    refusal: Refused | None = None,
    other_id: UUID | None = None,
) -> Response:
    parts = parts_of(request)
    workspace = await one(parts.reads, workspace_id, caller.user_id)
    other: ShownWorkspace | None = await one(parts.reads, other_id, caller.user_id) if other_id is not None else None
    if workspace is None or (other_id is not None and other is None):
        raise NoSuchWorkspace
    language = reading(request, caller.locale).language
    return form_page(
        request,
        template,
        refusal.status if refusal is not None else 200,
        caller=caller,
        also_to=parts.origins.of(workspace_id),
        workspace=workspace,
        other=other,
        trouble=said(refusal, language) if refusal is not None else "",
        address=parts.origins.address(workspace_id),
    )
