"""What workspaces can be made from."""

from dataclasses import asdict

from fastapi import APIRouter, Request, Response

from codehub.store import templates as stored
from codehub.web.api.answers import answer
from codehub.web.api.refusals import refusals
from codehub.web.api.schemas.templates import Template, Templates
from codehub.web.callers import Reader
from codehub.web.parts import parts_of

router = APIRouter(tags=["templates"])


@router.get("/templates", response_model=Templates, responses=refusals(401, 403))
async def list_templates(request: Request, _caller: Reader) -> Response:
    """All templates, by name. One that is not `ready` can be chosen: its workspaces start when it is."""
    found = [asdict(each) for each in await stored.all_templates(parts_of(request).reads)]
    return answer({"items": [{name: each[name] for name in Template.model_fields} for each in found]})
