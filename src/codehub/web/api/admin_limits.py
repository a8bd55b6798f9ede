"""The limits in force."""

from fastapi import APIRouter, Request

from codehub.store.overview import places
from codehub.web.api.refusals import refusals
from codehub.web.api.schemas.overview import LimitsInForce
from codehub.web.callers import Administrator
from codehub.web.parts import parts_of

router = APIRouter(prefix="/admin", tags=["administration"])


@router.get("/limits", responses=refusals(401, 403))
async def get_limits(request: Request, _caller: Administrator) -> LimitsInForce:
    """How many workspaces may run, and how many places are taken."""
    parts = parts_of(request)
    config, taken = parts.settings.limits, await places(parts.reads)
    return LimitsInForce(
        max_running_per_user=config.max_running_per_user,
        max_running_global=config.max_running_global,
        running=taken.taken,
        users_with_own_limit=taken.users_with_own_limit,
    )
