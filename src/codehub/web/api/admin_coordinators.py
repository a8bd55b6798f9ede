"""The whole installation: who leads in it, and how much there is."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request, Response

from codehub.model.states import Operation, Phase
from codehub.store.overview import Office, glance, offices
from codehub.web.api.answers import answer
from codehub.web.api.refusals import refusals
from codehub.web.api.schemas.overview import Coordinators, Overview
from codehub.web.callers import Administrator
from codehub.web.leading import Leading, Told
from codehub.web.parts import parts_of

router = APIRouter(prefix="/admin", tags=["administration"])


@router.get("/coordinators", response_model=Coordinators, responses=refusals(401, 403))
async def list_coordinators(request: Request, _caller: Administrator) -> Response:
    """Each part of the work that one process does for all, and which."""
    return answer({"items": await all_offices(request)})


@router.get("/overview", response_model=Overview, responses=refusals(401, 403))
async def get_overview(request: Request, _caller: Administrator) -> Response:
    """How many workspaces, users and archives there are, and whether what workspaces need answers."""
    seen = await glance(parts_of(request).reads)
    counted = {"workspaces": plain(seen.workspaces), "operations": plain(seen.operations)}
    return answer({**asdict(seen), **counted, "services": services(await leading(request))})


async def leading(request: Request) -> dict[tuple[str, int], Told]:
    heard: Leading = request.app.state.leading
    return await heard.told()


async def all_offices(request: Request) -> list[dict[str, Any]]:
    """Each with what its leader tells of itself."""
    told = await leading(request)
    return [_told(office, told.get((office.name, office.epoch))) for office in await offices(parts_of(request).reads)]


def _told(office: Office, told: Told | None) -> dict[str, Any]:
    return {
        **asdict(office),
        "last_pass": told.last_pass if told is not None else None,
        "last_error": told.last_error if told is not None else None,
        "is_failing": told is not None and told.is_failing,
        "alarm": told.alarm if told is not None else None,
    }


def services(told: Mapping[tuple[str, int], Told]) -> dict[str, bool]:
    """Several leaders may tell of the same one, where the work is divided: then the worst counts."""
    seen: dict[str, bool] = {}
    for each in told.values():
        for service, answers in each.services.items():
            seen[service] = answers and seen.get(service, True)
    return seen


def plain(counted: Mapping[Phase, int] | Mapping[Operation, int]) -> dict[str, int]:
    return {str(each): many for each, many in counted.items()}
