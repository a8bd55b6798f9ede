"""Pages that the front door shows in the place of a workspace that cannot be reached: waking, limit, error, not there.

What can be done on them is to wake this one workspace. Everything else is a link to our own origin, where a person is
asked (contract 13)."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from codehub.decide.route import Answer, Forward, Visit, route
from codehub.model.shown import ShownWorkspace
from codehub.model.states import Desired
from codehub.model.workspace import Workspace
from codehub.store.admission import LimitReached, would_be_refused
from codehub.store.listing import one
from codehub.store.routes import routes_of
from codehub.web.front_door import Visited, Visitor
from codehub.web.long_answers import LongAnswer
from codehub.web.pages.reading import reading
from codehub.web.pages.render import page_in_place
from codehub.web.pages.state import StateStream, state_of
from codehub.web.pages.telling import Telling
from codehub.web.parts import parts_of
from codehub.web.problems import RETRY_AFTER_SECONDS, Refused
from codehub.web.wishing import Wishing, limits_of

router = APIRouter(prefix="/internal/workspaces/{workspace_id}", include_in_schema=False)

RETRY = {"Retry-After": str(RETRY_AFTER_SECONDS)}


@router.get("/page")
async def page(request: Request, visitor: Visitor) -> Response:
    parts = parts_of(request)
    found = (await routes_of(parts.reads, [visitor.workspace_id])).get(visitor.workspace_id)
    workspace = found.workspace if found is not None else None
    shown = await one(parts.reads, visitor.workspace_id, visitor.caller.user_id)
    if shown is None or workspace is None:
        return _rendered(request, visitor, "missing.html", 404)
    reached = await _limit(request, workspace)
    answer = route(workspace, Visit.NAVIGATION, reached is not None)
    match answer:
        case Forward() if not visitor.is_unreachable:
            return RedirectResponse(visitor.address, 303)  # it has woken meanwhile
        case Forward() | Answer.WAKING_PAGE | Answer.UNAVAILABLE:
            return await _waking(request, visitor, shown)
        case Answer.ERROR_PAGE:
            state = await state_of(parts, shown, _told(request, visitor))
            return _rendered(request, visitor, "error.html", 503, shown=shown, state=state)
        case Answer.LIMIT_PAGE:
            return _rendered(request, visitor, "limit.html", 502, shown=shown, reached=reached)
        case Answer.NOT_FOUND:
            return _rendered(request, visitor, "missing.html", 404)


@router.get("/clock")
async def clock(request: Request, visitor: Visitor) -> Response:
    """When it goes to sleep, and a button to put that off."""
    parts = parts_of(request)
    shown = await one(parts.reads, visitor.workspace_id, visitor.caller.user_id)
    if shown is None:
        return _rendered(request, visitor, "missing.html", 404)
    return _rendered(
        request, visitor, "clock.html", 200, shown=shown, state=await state_of(parts, shown, _told(request, visitor))
    )


@router.get("/events", response_class=LongAnswer)
async def events(request: Request, visitor: Visitor) -> LongAnswer:
    """What becomes of it, until it runs or cannot."""
    return LongAnswer(StateStream(parts_of(request), visitor, partial(_told, request, visitor)))


@router.post("/wake")
async def wake(request: Request, visitor: Visitor, to: Annotated[str, Form()] = "") -> Response:
    """Wish that it runs. Whoever asks again, or at the same time, wishes the same."""
    is_form = "text/html" in request.headers.get("accept", "")
    try:
        async with parts_of(request).writes.begin() as connection:
            wishing = Wishing(request, visitor.caller, connection, reason="wake")
            await wishing.wish(await wishing.found(visitor.workspace_id), Desired.RUNNING)
    except Refused:
        if not is_form:
            raise
    # The page that comes then says what there is to say, also why it was refused.
    return RedirectResponse(_inside(request, visitor, to), 303) if is_form else Response(status_code=202)


async def _waking(request: Request, visitor: Visited, shown: ShownWorkspace) -> Response:
    state = await state_of(parts_of(request), shown, _told(request, visitor))
    return _rendered(request, visitor, "waking.html", 503, RETRY, shown=shown, state=state)


async def _limit(request: Request, workspace: Workspace) -> LimitReached | None:
    """Why it could not be woken, where it would have to be."""
    if workspace.desired_state is Desired.RUNNING:
        return None
    async with parts_of(request).writes.connect() as connection:
        return await would_be_refused(connection, workspace.id, workspace.owner_user_id, limits_of(request))


def _told(request: Request, visitor: Visited) -> Telling:
    return reading(request, visitor.caller.locale).telling


def _rendered(
    request: Request,
    visitor: Visited,
    template: str,
    status: int,
    headers: dict[str, str] | None = None,
    **values: object,
) -> Response:
    origins = parts_of(request).origins
    return page_in_place(
        request,
        visitor.caller.locale,
        template,
        status,
        headers or {},
        desk=f"{origins.mount(visitor.workspace_id)}/.codehub",
        ours=origins.public_url,
        address=visitor.address,
        is_unreachable=visitor.is_unreachable,
        **values,
    )


def _inside(request: Request, visitor: Visited, to: str) -> str:
    """Where a person wanted to go, if that is inside of this workspace."""
    begins = f"{parts_of(request).origins.mount(visitor.workspace_id)}/"
    is_local = to.startswith(begins) and not to.startswith(("//", "/\\")) and to.isascii() and to.isprintable()
    return to if is_local else begins
