"""One's own account."""

from fastapi import APIRouter, Request

from codehub.model.accounts import Caller
from codehub.web.api.refusals import refusals
from codehub.web.api.schemas.account import Me
from codehub.web.callers import Reader
from codehub.web.parts import parts_of

router = APIRouter(tags=["account"])


@router.get("/me", responses=refusals(401, 403))
async def get_me(request: Request, caller: Reader) -> Me:
    """Who is calling, and what they may do."""
    return shown(caller, parts_of(request).callers.csrf_token_of(request))


def shown(caller: Caller, csrf_token: str | None) -> Me:
    return Me(
        id=caller.user_id,
        login=caller.login,
        role=caller.role,
        max_running=caller.max_running,
        locale=caller.locale,
        proof=caller.proof,
        scopes=sorted(caller.scopes),
        expires_at=caller.expires_at,
        csrf_token=csrf_token,
    )
