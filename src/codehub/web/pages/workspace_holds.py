"""Keeping a workspace awake from its page."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form, Request
from pydantic import ValidationError
from starlette.responses import Response

from codehub.web.api import holds
from codehub.web.api.schemas.holds import NewHold
from codehub.web.idempotency import Once
from codehub.web.pages.actions import told
from codehub.web.pages.reading import Message, reading
from codehub.web.pages.refusing import said
from codehub.web.parts import parts_of
from codehub.web.problems import Refused

router = APIRouter(prefix="/workspaces/{workspace_id}/holds", include_in_schema=False)

Sent = Annotated[str, Form(alias="csrf_token")]
LASTS_SECONDS = (1800, 3600, 2 * 3600, 4 * 3600, 8 * 3600, 24 * 3600)


@router.post("")
async def place(
    request: Request,
    workspace_id: UUID,
    token: Sent,
    reason: Annotated[str, Form(max_length=1000)],
    seconds: Annotated[int, Form()],
) -> Response:
    caller = await parts_of(request).callers.identify_form(request, token)
    try:
        wanted = NewHold(reason=reason.strip(), seconds=seconds)
        await holds.place_hold(request, workspace_id, wanted, caller, Once(request))
    except ValidationError:
        return told(request, caller, [Message("holds.wrong", {}, True)])
    except Refused as refusal:
        why = said(refusal, reading(request, caller.locale).language)
        return told(request, caller, [Message("holds.refused", {"why": why}, True)])
    return told(request, caller, [Message("holds.placed", {"reason": wanted.reason})])


@router.post("/{hold_id}/release")
async def release(request: Request, workspace_id: UUID, hold_id: UUID, token: Sent) -> Response:
    """One that is over already is as good as let go."""
    caller = await parts_of(request).callers.identify_form(request, token)
    await holds.release_hold(request, workspace_id, hold_id, caller)
    return told(request, caller, [Message("holds.released", {})])


def offered(ceiling_seconds: int) -> list[int]:
    """How long a hold may last, as its form offers it."""
    return [each for each in LASTS_SECONDS if not ceiling_seconds or each <= ceiling_seconds] or [ceiling_seconds]
