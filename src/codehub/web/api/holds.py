"""What keeps a workspace awake although nobody seems to use it: holds, and somebody who says that they are there."""

from uuid import UUID

from fastapi import APIRouter, Request, Response
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.settings import Settings
from codehub.store import audit, holds, listing
from codehub.web.actors import actor_of
from codehub.web.api.answers import answer, one_workspace
from codehub.web.api.refusals import BODY, refusals
from codehub.web.api.schemas.holds import Hold, Holds, NewHold, Renewal
from codehub.web.api.schemas.workspace import Workspace
from codehub.web.api.workspace_problems import AboveCeiling, Asleep, NoSuchHold, NoSuchWorkspace, TooManyHolds
from codehub.web.callers import Holder, Worker
from codehub.web.idempotency import OnlyOnce
from codehub.web.parts import parts_of
from codehub.web.wishing import Wishing

router = APIRouter(tags=["holds"])


@router.get("/workspaces/{workspace_id}/holds", response_model=Holds, responses=refusals(401, 403, 404, 422))
async def list_holds(request: Request, workspace_id: UUID, caller: Holder) -> Response:
    """The holds that keep it awake at the moment."""
    reads = parts_of(request).reads
    owner = await listing.owner_of(reads, workspace_id)
    if owner is None or not (owner == caller.user_id or caller.administers):
        raise NoSuchWorkspace
    return answer({"items": await holds.holds_of(reads, workspace_id)})


@router.post(
    "/workspaces/{workspace_id}/holds",
    status_code=201,
    response_model=Hold,
    responses=refusals(*BODY, 401, 403, 404, 409),
)
async def place_hold(request: Request, workspace_id: UUID, body: NewHold, caller: Holder, once: OnlyOnce) -> Response:
    """Keep it awake for so long, whatever its idle time. It wakes nothing: what sleeps sleeps on."""
    _refuse_above_ceiling(parts_of(request).settings, body.seconds)

    async def work(connection: AsyncConnection) -> Response:
        workspace = await Wishing(request, caller, connection).found(workspace_id)
        try:
            placed = await holds.hold(connection, workspace_id, body.reason, caller.login, body.seconds)
        except holds.TooMany as error:
            raise TooManyHolds from error
        said = {"reason": body.reason, "seconds": body.seconds}
        actor = actor_of(request, caller)
        await audit.record(connection, actor, "hold.place", subject_id=workspace_id, subject=workspace.name, **said)
        return answer(placed, 201)

    return await once(caller, work)


@router.patch(
    "/workspaces/{workspace_id}/holds/{hold_id}",
    response_model=Hold,
    responses=refusals(*BODY, 401, 403, 404),
)
async def renew_hold(request: Request, workspace_id: UUID, hold_id: UUID, body: Renewal, caller: Holder) -> Response:
    """Let it last for so long from now on, up to the administrator's ceiling from its beginning on. It never becomes
    shorter. `ends_at` tells what came of it."""
    parts = parts_of(request)
    ceiling = parts.settings.ttl.hold_ceiling_seconds
    async with parts.writes.begin() as connection:
        await Wishing(request, caller, connection).found(workspace_id)
        renewed = await holds.renew(connection, workspace_id, hold_id, body.seconds, ceiling)
    if renewed is None:
        raise NoSuchHold
    return answer(renewed)


@router.delete("/workspaces/{workspace_id}/holds/{hold_id}", status_code=204, responses=refusals(401, 403, 404, 422))
async def release_hold(request: Request, workspace_id: UUID, hold_id: UUID, caller: Holder) -> None:
    """What it was for is over. Unused for its idle time, the workspace goes to sleep."""
    async with parts_of(request).writes.begin() as connection:
        workspace = await Wishing(request, caller, connection).found(workspace_id)
        reason = await holds.let_go(connection, workspace_id, hold_id, caller.login)
        if reason is None:
            raise NoSuchHold
        actor = actor_of(request, caller)
        await audit.record(
            connection, actor, "hold.release", subject_id=workspace_id, subject=workspace.name, reason=reason
        )


@router.post(
    "/workspaces/{workspace_id}/extend",
    response_model=Workspace,
    responses=refusals(401, 403, 404, 409, 422),
)
async def extend_workspace(request: Request, workspace_id: UUID, caller: Worker, once: OnlyOnce) -> Response:
    """Somebody is there: it stays awake for all of its idle time from now on, as if it had been used."""

    async def work(connection: AsyncConnection) -> Response:
        await Wishing(request, caller, connection).found(workspace_id)
        if not await holds.extend(connection, workspace_id):
            raise Asleep
        return await one_workspace(parts_of(request), await listing.one_with(connection, workspace_id))

    return await once(caller, work)


def _refuse_above_ceiling(settings: Settings, seconds: int) -> None:
    ceiling = settings.ttl.hold_ceiling_seconds
    if ceiling and seconds > ceiling:
        raise AboveCeiling(f"A hold lasts {ceiling} seconds at most here.", at="seconds")
