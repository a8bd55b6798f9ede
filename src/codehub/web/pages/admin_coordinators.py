"""Who leads each part of the work, since when, and when they last did it, for administrators."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from codehub.web.api.admin_coordinators import all_offices
from codehub.web.pages.administration import administrator, page

router = APIRouter(prefix="/admin/coordinators", include_in_schema=False)


@router.get("")
async def show_coordinators(request: Request) -> Response:
    caller = await administrator(request)
    offices = [{**each, "work": _work(each["name"])} for each in await all_offices(request)]
    return page(request, caller, "coordinators", offices=offices)


def _work(lock_name: str) -> tuple[str, str]:
    """What it is called, and which part of it this is: `coordinator:wc:2` is the third part of the controller's."""
    name, _, part = lock_name.removeprefix("coordinator:").partition(":")
    return name, part
