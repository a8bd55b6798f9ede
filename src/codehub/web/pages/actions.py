"""What can be done with one's workspaces from the dashboard, one by one or several at once."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated
from urllib.parse import urlsplit
from uuid import UUID

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from codehub.decide.undelete import undo_until
from codehub.model.accounts import Caller
from codehub.model.shown import ShownWorkspace
from codehub.model.states import Desired
from codehub.settings.idle_times import idle_policy
from codehub.store import listing
from codehub.web.api.holds import extend_workspace
from codehub.web.api.schemas.wishes import Recovery
from codehub.web.api.workspace_changes import (
    archive_workspace,
    recover_workspace,
    start_workspace,
    stop_workspace,
)
from codehub.web.api.workspace_problems import NoSuchWorkspace
from codehub.web.api.workspace_requests import undelete_workspace
from codehub.web.api.workspaces import delete_workspace, whose
from codehub.web.idempotency import Once
from codehub.web.pages.reading import Message, is_fetched, local, reading
from codehub.web.pages.refusing import said
from codehub.web.pages.render import fragment
from codehub.web.parts import parts_of
from codehub.web.problems import Refused

router = APIRouter(prefix="/workspaces", include_in_schema=False)

MOST = 200
Sent = Annotated[str, Form(alias="csrf_token")]


class Deed(StrEnum):
    START = "start"
    STOP = "stop"
    ARCHIVE = "archive"
    RECOVER = "recover"
    START_EMPTY = "start_empty"
    EXTEND = "extend"
    UNDELETE = "undelete"
    DELETE = "delete"


async def _delete(request: Request, workspace_id: UUID, caller: Caller, _once: Once) -> Response:
    return await delete_workspace(request, workspace_id, caller)


async def _start_empty(request: Request, workspace_id: UUID, caller: Caller, once: Once) -> Response:
    return await recover_workspace(request, workspace_id, caller, once, Recovery(start_empty=True))


_DO: dict[Deed, Callable[[Request, UUID, Caller, Once], Awaitable[Response]]] = {
    Deed.START: start_workspace,
    Deed.STOP: stop_workspace,
    Deed.ARCHIVE: archive_workspace,
    Deed.RECOVER: recover_workspace,
    Deed.START_EMPTY: _start_empty,
    Deed.EXTEND: extend_workspace,
    Deed.UNDELETE: undelete_workspace,
    Deed.DELETE: _delete,
}
_IS_LOOKED_AT = re.compile("/|/workspaces/[0-9a-f-]{36}|/admin/[a-z]+")
_WISHES = {Desired.RUNNING: Deed.START, Desired.STANDBY: Deed.STOP, Desired.ARCHIVED: Deed.ARCHIVE}


@dataclass(frozen=True, slots=True)
class Undo:
    """What takes back what was done to these."""

    action: Deed
    ids: Sequence[UUID]


@router.post("/act")
async def act(
    request: Request, token: Sent, action: Annotated[Deed, Form()], ids: Annotated[list[UUID], Form(max_length=MOST)]
) -> Response:
    """Each by itself: what is refused to one keeps none of the others from it."""
    caller = await parts_of(request).callers.identify_form(request, token)
    language = reading(request, caller.locale).language
    done: list[ShownWorkspace] = []
    refused: dict[str, list[str]] = {}
    for workspace_id in dict.fromkeys(ids):
        before = await _of(request, caller, workspace_id)
        try:
            if before is None:
                raise NoSuchWorkspace
            await _DO[action](request, workspace_id, caller, Once(request))
            done.append(before)
        except Refused as refusal:
            refused.setdefault(said(refusal, language), []).append(before.name if before is not None else "?")
    messages = [
        Message("done.refused", {"names": ", ".join(names), "why": why}, True) for why, names in refused.items()
    ]
    undo = await _undo(request, caller, action, done)
    if done:
        messages.insert(0, Message(f"done.{action}", {"count": len(done), "names": done[0].name}))
    return told(request, caller, messages, undo)


async def _of(request: Request, caller: Caller, workspace_id: UUID) -> ShownWorkspace | None:
    """One that the caller may act on, also a deleted one."""
    reads = parts_of(request).reads
    for deleted in (False, True):
        wanted = listing.Wanted(ids=[workspace_id], owner_user_id=whose(caller), deleted=deleted)
        if found := await listing.page(reads, wanted):
            return found[0]
    return None


async def _undo(request: Request, caller: Caller, action: Deed, done: Sequence[ShownWorkspace]) -> Undo | None:
    """What they were wished to be before, where that is one and the same and can be wished again."""
    ids = [each.id for each in done]
    if action is Deed.DELETE:
        window = idle_policy(parts_of(request).settings).undelete_window
        now = [await _of(request, caller, each) for each in ids]
        is_possible = now and all(each is not None and undo_until(each, window) is not None for each in now)
        return Undo(Deed.UNDELETE, ids) if is_possible else None
    before = {each.desired_state for each in done}
    if action not in _WISHES.values() or len(before) != 1:
        return None
    back = _WISHES.get(before.pop())
    return Undo(back, ids) if back is not None and back is not action else None


def told(request: Request, caller: Caller, messages: Sequence[Message], undo: Undo | None = None) -> Response:
    """What happened: as toasts for the script of the page, otherwise on the page that the person came from."""
    if is_fetched(request):
        return fragment(request, caller, "toasts.html", messages=messages, undo=undo)
    response = RedirectResponse(_came_from(request), 303)
    Message.put_all(messages, response, secure=parts_of(request).callers.secure)
    return response


def _came_from(request: Request) -> str:
    """The page that was looked at; from the page of a form back to the whole list."""
    parts = urlsplit(request.headers.get("referer", ""))
    if not _IS_LOOKED_AT.fullmatch(parts.path):
        return "/"
    return local(f"{parts.path}?{parts.query}" if parts.query else parts.path)
