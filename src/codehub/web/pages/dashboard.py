"""The first page of whoever is logged in: their workspaces."""

from dataclasses import dataclass

from fastapi import APIRouter, Request
from starlette.responses import Response

from codehub.model.accounts import Caller
from codehub.store import listing
from codehub.store.listing import Order
from codehub.web.pages.cards import Card, cards
from codehub.web.pages.reading import person, reading
from codehub.web.pages.render import form_page
from codehub.web.pages.sought import PER_PAGE, SHOWN, Sought, sought
from codehub.web.parts import parts_of

router = APIRouter(include_in_schema=False)

REFRESH_SECONDS = 20
"""How often what changes by the clock alone is told anew."""


@dataclass(frozen=True, slots=True)
class Found:
    """One page of what was looked for, and how much there is."""

    sought: Sought
    cards: list[Card]
    counts: dict[str, int]
    """By choice (`SHOWN`)."""
    pages: int

    @property
    def has_none_at_all(self) -> bool:
        return not self.sought.narrows and not self.counts["all"]


@router.api_route("/", methods=["GET", "HEAD"])
async def show_dashboard(request: Request) -> Response:
    caller = await person(request)
    found = await find(request, caller)
    return form_page(
        request,
        "dashboard.html",
        caller=caller,
        found=found,
        orders=list(Order),
        refresh_seconds=REFRESH_SECONDS,
    )


async def find(request: Request, caller: Caller) -> Found:
    """What this address asks for. A page behind the last one is the last one."""
    parts, wanted = parts_of(request), sought(request.query_params)
    told = reading(request, caller.locale).telling
    by_phase = await listing.counts(parts.reads, wanted.counted(caller.user_id))
    counts = {show: sum(by_phase.get(phase, 0) for phase in phases) for show, phases in SHOWN.items()}
    counts["all"] = sum(by_phase.values())
    if wanted.show == "deleted":
        gone = await listing.counts(parts.reads, wanted.wanted(caller.user_id))
        counts["deleted"] = sum(gone.values())
    pages = max(1, -(-counts[wanted.show] // PER_PAGE))
    here = Sought(wanted.words, wanted.show, wanted.order, min(wanted.page, pages))
    shown = await listing.page(parts.reads, here.wanted(caller.user_id))
    return Found(here, await cards(parts, shown, told), counts, pages)
