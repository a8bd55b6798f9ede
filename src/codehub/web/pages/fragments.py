"""Parts of the dashboard for its script, which asks for them when it hears that something has changed."""

from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from codehub.model.states import Phase
from codehub.store import listing
from codehub.web.pages.cards import cards
from codehub.web.pages.dashboard import find
from codehub.web.pages.reading import person, reading
from codehub.web.pages.render import fragment
from codehub.web.pages.sought import PER_PAGE, sought
from codehub.web.parts import parts_of

router = APIRouter(prefix="/fragments", include_in_schema=False)

TOLD_OF = (Phase.RUNNING, Phase.STANDBY, Phase.ARCHIVED, Phase.ERROR)
"""What somebody waits for who looks elsewhere meanwhile."""


@router.get("/cards")
async def some_cards(request: Request, ids: str) -> Response:
    """The cards of these workspaces, as far as they are still what the rest of the address looks for."""
    parts, caller = parts_of(request), await person(request)
    asked = _asked(ids)
    told = reading(request, caller.locale).telling
    wanted = sought(request.query_params).wanted(caller.user_id, asked)
    shown = await listing.page(parts.reads, wanted) if asked else []
    return fragment(request, caller, "cards.html", cards=await cards(parts, shown, told))


@router.get("/news")
async def news(request: Request, ids: str) -> Response:
    """What has become of these, for the title of a page that nobody looks at."""
    parts, caller, asked = parts_of(request), await person(request), _asked(ids)
    wanted = listing.Wanted(ids=asked, owner_user_id=caller.user_id)
    shown = await listing.page(parts.reads, wanted) if asked else []
    return fragment(request, caller, "news.html", workspaces=shown, told_of=TOLD_OF)


@router.get("/list")
async def whole_list(request: Request) -> Response:
    """All that is below the search of the dashboard at this address."""
    caller = await person(request)
    return fragment(request, caller, "list.html", found=await find(request, caller))


def _asked(ids: str) -> list[UUID]:
    return [UUID(each) for each in ids.split(",")[:PER_PAGE] if _is_id(each)]


def _is_id(text: str) -> bool:
    return len(text) == 32 and all(letter in "0123456789abcdef" for letter in text)
