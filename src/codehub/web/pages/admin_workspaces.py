"""Everybody's workspaces, for administrators. What is done with them goes where every deed goes (`actions.py`)."""

from dataclasses import replace

from fastapi import APIRouter, Request
from starlette.responses import Response

from codehub.model.states import ErrorReason
from codehub.store import listing, users
from codehub.store.listing import Order
from codehub.store.templates import all_templates
from codehub.web.pages.admin_sought import OPERATIONS, PHASES, sought_of_all
from codehub.web.pages.administration import administrator, page
from codehub.web.pages.cards import cards
from codehub.web.pages.reading import reading
from codehub.web.pages.sought import PER_PAGE
from codehub.web.parts import parts_of

CHOICES = {
    "phase": {each: f"phase.{each}" for each in PHASES},
    "operation": {each: f"operation.{each}" for each in OPERATIONS},
    "error": {each: f"admin.errors.{each}" for each in ErrorReason},
}
"""What the list can be narrowed to, each with its word."""

router = APIRouter(prefix="/admin/workspaces", include_in_schema=False)


@router.get("")
async def show_workspaces(request: Request) -> Response:
    """A page behind the last one is the last one. Of an owner whom nobody knows there are none."""
    parts, caller = parts_of(request), await administrator(request)
    sought, owner = sought_of_all(request.query_params), None
    if login := sought.said.get("owner"):
        async with parts.writes.connect() as connection:
            owner = await users.by_login(connection, login)
    is_nobodys = "owner" in sought.said and owner is None
    wanted = sought.wanted(owner.id if owner is not None else None)
    count = 0 if is_nobodys else sum((await listing.counts(parts.reads, wanted)).values())
    pages = max(1, -(-count // PER_PAGE))
    sought = replace(sought, page=min(sought.page, pages))
    shown = await listing.page(parts.reads, replace(wanted, skip=(sought.page - 1) * PER_PAGE)) if count else []
    return page(
        request,
        caller,
        "workspaces",
        sought=sought,
        count=count,
        pages=pages,
        cards=await cards(parts, shown, reading(request, caller.locale).telling),
        choices=CHOICES,
        orders=list(Order),
        templates=[each.name for each in await all_templates(parts.reads)],
    )
