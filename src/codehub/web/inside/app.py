"""What workspaces themselves may ask, over a socket that leads nowhere else (contract 13): what holds them, when they
go to sleep, to stay awake for longer, and to tell what became of their repository."""

from importlib.metadata import version
from typing import Any
from uuid import UUID

from fastapi import APIRouter, FastAPI, Request, Response
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.middleware import Middleware

from codehub.clock import now
from codehub.decide.explain import explain
from codehub.decide.idle import NEVER, within_ceiling
from codehub.model.shown import Next, ShownWorkspace
from codehub.settings.idle_times import idle_policy
from codehub.store import clones, listing
from codehub.store import holds as stored
from codehub.web import problems
from codehub.web.api import holds
from codehub.web.api.answers import answer
from codehub.web.api.routes import PREFIX
from codehub.web.api.schemas.holds import Hold, Holds
from codehub.web.api.workspace_problems import Asleep, NoSuchWorkspace
from codehub.web.application import Application
from codehub.web.body_limit import BodyLimit
from codehub.web.callers import Holder
from codehub.web.idempotency import OnlyOnce
from codehub.web.inside.callers import Insiders
from codehub.web.inside.schemas import ToldClone
from codehub.web.parts import Parts, parts_of
from codehub.web.process import Process
from codehub.web.wishing import Wishing

router = APIRouter(prefix=f"{PREFIX}/workspaces/{{workspace_id}}")
router.get("/holds", response_model=Holds)(holds.list_holds)
router.post("/holds", response_model=Hold, status_code=201)(holds.place_hold)
router.patch("/holds/{hold_id}", response_model=Hold)(holds.renew_hold)
router.delete("/holds/{hold_id}", status_code=204)(holds.release_hold)


@router.get("/clock")
async def clock(request: Request, workspace_id: UUID, caller: Holder) -> Response:
    """When it goes to sleep."""
    shown = await listing.one(parts_of(request).reads, workspace_id, caller.user_id)
    if shown is None:
        raise NoSuchWorkspace
    return answer(_clock(parts_of(request), shown))


@router.post("/extend")
async def extend(request: Request, workspace_id: UUID, caller: Holder) -> Response:
    """It stays awake for all of its idle time from now on, as if it had been used."""
    parts = parts_of(request)
    async with parts.writes.begin() as connection:
        await Wishing(request, caller, connection).found(workspace_id)
        if not await stored.extend(connection, workspace_id):
            raise Asleep
        return answer(_clock(parts, await listing.one_with(connection, workspace_id)))


@router.post("/clone", status_code=204)
async def tell_clone(request: Request, workspace_id: UUID, body: ToldClone, caller: Holder, once: OnlyOnce) -> Response:
    """What has become of its repository, for its history."""

    async def work(connection: AsyncConnection) -> Response:
        await Wishing(request, caller, connection).found(workspace_id)
        await clones.tell(connection, workspace_id, body.outcome, body.detail)
        return Response(status_code=204)

    return await once(caller, work)


def _clock(parts: Parts, shown: ShownWorkspace) -> dict[str, Any]:
    """With the seconds that are left, so that nobody's clock has to agree with ours."""
    policy = idle_policy(parts.settings)
    explanation = explain(shown, None, policy)
    following = explanation.next
    sleeps_at = following.at if following is not None and following.what is Next.SLEEP else None
    idle = within_ceiling(shown.standby_after_seconds, policy.standby_after_seconds, policy.standby_ceiling_seconds)
    return {
        "summary": explanation.summary,
        "sleeps_at": sleeps_at,
        "sleeps_in_seconds": max(0.0, (sleeps_at - now()).total_seconds()) if sleeps_at is not None else None,
        "idle_seconds": idle if idle != NEVER else None,
    }


def create_inside(process: Process) -> FastAPI:
    """Without its parts, which it shares with the application that is opened around it."""
    app = Application(
        process,
        title="codehub inside",
        version=version("codehub-server"),
        openapi_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},
        middleware=[Middleware(BodyLimit)],
    )
    problems.install(app)
    app.include_router(router)
    return app


def open_inside(app: FastAPI, parts: Parts) -> None:
    app.state.parts, app.state.callers = parts, Insiders(parts.reads)
