"""The collector, for administrators: what its rounds did and why the rest stays, what one would do, what it asks."""

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from codehub.web.api import admin_gc as api
from codehub.web.api.schemas.gc import AlarmCode, Confirmation
from codehub.web.idempotency import Once
from codehub.web.pages.administration import Sent, administrator, back, page, refused, sent_by
from codehub.web.pages.reading import Message, reading
from codehub.web.pages.stays import stays
from codehub.web.parts import parts_of
from codehub.web.problems import Refused

router = APIRouter(prefix="/admin/collector", include_in_schema=False)

ADDRESS = "/admin/collector"
LISTED = 30
NAMED = 100
"""Things that the page of a preview names one by one; the API names more."""
CONFIRMED = (AlarmCode.ROUND_HALTED, AlarmCode.DATABASE_IS_OLD)


@router.get("")
async def show_collector(request: Request) -> Response:
    caller, parts = await administrator(request), parts_of(request)
    return page(
        request,
        caller,
        "collector",
        collector=await api.state(parts),
        rounds=await api.newest(parts, LISTED),
        stays=lambda why: stays(why, reading(request, caller.locale).language),
        confirmed=CONFIRMED,
    )


@router.get("/preview")
async def show_preview(request: Request) -> Response:
    caller = await administrator(request)
    found = await api.preview(parts_of(request))
    language = reading(request, caller.locale).language
    return page(
        request,
        caller,
        "collector",
        "admin_preview.html",
        found=found,
        named=NAMED,
        stays=lambda why: stays(why, language),
    )


@router.post("/rounds")
async def ask_for_round(request: Request, token: Sent) -> Response:
    caller = await sent_by(request, token)
    await api.ask_for_gc_round(request, caller, Once(request))
    return back(request, caller, ADDRESS, [Message("admin.collector.asked", {})])


@router.post("/confirm")
async def confirm(
    request: Request,
    token: Sent,
    alarm: Annotated[Literal[AlarmCode.ROUND_HALTED, AlarmCode.DATABASE_IS_OLD], Form()],
) -> Response:
    caller = await sent_by(request, token)
    try:
        await api.confirm_gc(request, Confirmation(alarm=alarm), caller, Once(request))
    except Refused as refusal:
        return refused(request, caller, ADDRESS, refusal)
    return back(request, caller, ADDRESS, [Message("admin.collector.confirmed", {})])
