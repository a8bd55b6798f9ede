"""From here to a workspace: its address, and the way into it for whoever is logged in (`proxy/entrance.py`)."""

import secrets
from datetime import timedelta
from typing import Annotated
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import RedirectResponse, Response

from codehub.model.accounts import Caller, Proof
from codehub.store import login_codes
from codehub.store.listing import one
from codehub.store.routes import named
from codehub.store.visits import PURPOSE
from codehub.web.api.schemas.texts import Body
from codehub.web.api.workspace_problems import NoSuchWorkspace
from codehub.web.pages.login import login_address
from codehub.web.parts import parts_of
from codehub.web.problems import NotLoggedIn

router = APIRouter(include_in_schema=False)

LASTS = timedelta(seconds=30)


class Entering(Body):
    """A browser that stands before a workspace, with a mark whose hash this is."""

    challenge: str = Field(pattern="^[A-Za-z0-9_-]{43}$")
    to: str = Field("/", pattern="^/[!-~]{0,1999}$")


@router.get("/open/{workspace_id}")
async def open_workspace(request: Request, workspace_id: UUID, entering: Annotated[Entering, Query()]) -> Response:
    """Give the browser a code that lets it into this workspace, if it is the caller's own."""
    parts = parts_of(request)
    caller = await _person(request)
    if caller is None:
        return RedirectResponse(login_address(f"/open/{workspace_id.hex}?{urlencode(entering.model_dump())}"), 303)
    if await one(parts.reads, workspace_id, caller.user_id) is None:
        raise NoSuchWorkspace
    secret = secrets.token_urlsafe(32)
    detail = {
        "workspace_id": str(workspace_id),
        "session_id": str(caller.proof_id),
        "challenge": entering.challenge,
    }
    async with parts.writes.begin() as connection:
        code = login_codes.NewCode(caller.user_id, secret, PURPOSE, detail, LASTS)
        await login_codes.make_code(connection, code)
    enter = f"{parts.origins.address(workspace_id)}.codehub/enter"
    return RedirectResponse(f"{enter}?{urlencode({'code': secret, 'to': entering.to})}", 303)


@router.get("/w/{workspace}")
@router.get("/w/{workspace}/{rest:path}")
async def lead_to_workspace(request: Request, workspace: str) -> Response:
    """By its id, or by the name that its owner gave it."""
    parts = parts_of(request)
    raw: bytes = request.scope["raw_path"]
    rest = raw.split(b"/", 3)[3] if raw.count(b"/") > 2 else b""
    query = f"?{request.url.query}" if request.url.query else ""
    try:
        workspace_id: UUID | None = UUID(workspace)
    except ValueError:
        caller = await _person(request)
        if caller is None:
            return RedirectResponse(login_address(f"{raw.decode('latin-1')}{query}"), 303)
        workspace_id = await named(parts.reads, caller.user_id, workspace)
    if workspace_id is None:
        raise NoSuchWorkspace
    return RedirectResponse(f"{parts.origins.address(workspace_id)}{rest.decode('latin-1')}{query}", 302)


async def _person(request: Request) -> Caller | None:
    """Who has logged in with this browser; None for nobody."""
    try:
        caller = await parts_of(request).callers.identify(request)
    except NotLoggedIn:
        return None
    return caller if caller.proof is Proof.SESSION else None
