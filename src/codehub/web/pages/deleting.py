"""Several workspaces to be deleted at once: a page that asks first, and says of each whether it can come back."""

from datetime import timedelta
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from codehub.decide.undelete import undelete_seconds
from codehub.settings.idle_times import idle_policy
from codehub.store import listing
from codehub.web.api.workspace_problems import NoSuchWorkspace
from codehub.web.pages.actions import MOST
from codehub.web.pages.create import UNDO_SECONDS
from codehub.web.pages.render import form_page
from codehub.web.parts import parts_of

router = APIRouter(prefix="/workspaces", include_in_schema=False)


@router.post("/delete")
async def ask_to_delete_several(
    request: Request,
    token: Annotated[str, Form(alias="csrf_token")],
    ids: Annotated[list[UUID], Form(max_length=MOST)],
) -> Response:
    """Sent as a form, so that no address grows with what was chosen; nothing is changed by it."""
    parts = parts_of(request)
    caller = await parts.callers.identify_form(request, token)
    wanted = listing.Wanted(ids=ids, owner_user_id=caller.user_id, order=listing.Order.NAME, limit=MOST)
    shown = await listing.page(parts.reads, wanted)
    if not shown:
        raise NoSuchWorkspace
    window = idle_policy(parts.settings).undelete_window
    return form_page(
        request,
        "delete_several.html",
        caller=caller,
        shown=shown,
        kept=[each.name for each in shown if undelete_seconds(each, window)],
        lost=[each.name for each in shown if not undelete_seconds(each, window)],
        window=timedelta(seconds=max(undelete_seconds(each, window) or 0 for each in shown)),
        undo_seconds=UNDO_SECONDS,
    )
