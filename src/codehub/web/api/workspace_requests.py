"""What can be asked for beyond a wish: older files, a new workspace from them, and what was deleted."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Body, Request, Response
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub import clock
from codehub.decide import undelete as decided
from codehub.decide.undelete import consider_undelete
from codehub.model.accounts import Caller
from codehub.model.shown import ShownWorkspace
from codehub.model.states import Desired
from codehub.model.workspace import Workspace as Row
from codehub.settings.idle_times import idle_policy
from codehub.store import generations, listing
from codehub.store.wishes import NewWorkspace
from codehub.web.api.answers import one_workspace
from codehub.web.api.refusals import BODY, refusals
from codehub.web.api.schemas.archives import NewFork, Restoration, Return
from codehub.web.api.schemas.workspace import Workspace
from codehub.web.api.workspace_problems import (
    CannotComeBack,
    NameTaken,
    NoArchive,
    NoSuchArchive,
    NotDeleted,
    StillBeingDeleted,
    UnknownTemplate,
)
from codehub.web.api.workspaces import FOREIGN_KEY_VIOLATION, new_workspace, refuse_above_ceiling
from codehub.web.callers import Worker
from codehub.web.idempotency import OnlyOnce
from codehub.web.parts import parts_of
from codehub.web.wishing import Wishing

router = APIRouter(tags=["archives"])


@router.post(
    "/workspaces/{workspace_id}/restore",
    status_code=202,
    response_model=Workspace,
    responses=refusals(*BODY, 401, 403, 404, 409, 429),
)
async def restore_workspace(
    request: Request, workspace_id: UUID, body: Restoration, caller: Worker, once: OnlyOnce
) -> Response:
    """Bring the files of one of its archives back. A home that is there is stopped and archived first, so that nothing
    is lost; after that it becomes again what is wished of it. Also for lost files, and from any other ERROR."""

    async def work(connection: AsyncConnection) -> Response:
        wishing = Wishing(request, caller, connection)
        workspace = await wishing.found(workspace_id)
        archive = await generations.chosen(connection, workspace, body.archive_id)
        if archive is None:
            raise NoSuchArchive
        await wishing.restore(workspace, archive)
        return await one_workspace(parts_of(request), await listing.one_with(connection, workspace_id), 202)

    return await once(caller, work)


@router.post(
    "/workspaces/{workspace_id}/fork",
    status_code=201,
    response_model=Workspace,
    responses=refusals(*BODY, 401, 403, 404, 409, 429),
)
async def fork_workspace(
    request: Request, workspace_id: UUID, body: NewFork, caller: Worker, once: OnlyOnce
) -> Response:
    """Make a new workspace, the caller's own, that begins with the files of an archive of this one. The two are
    independent from then on, and the archive stays as long as the new one stands on it."""
    refuse_above_ceiling(parts_of(request).settings, body.standby_after_seconds, body.archive_after_seconds)

    async def work(connection: AsyncConnection) -> Response:
        wishing = Wishing(request, caller, connection)
        source = await wishing.found(workspace_id, deleted=True)
        archive = await generations.chosen(connection, source, body.archive_id)
        if archive is None:
            raise NoArchive if body.archive_id is None else NoSuchArchive
        new = await _new(connection, body, await listing.one_with(connection, source.id), caller)
        try:
            await wishing.fork(new, body.desired_state, source, archive)
        except IntegrityError as error:
            if getattr(error.orig, "sqlstate", None) == FOREIGN_KEY_VIOLATION:
                raise UnknownTemplate from error
            raise NameTaken from error
        shown = await listing.one_with(connection, new.id)
        return await one_workspace(parts_of(request), shown, 201, {"Location": f"/api/v1/workspaces/{new.id}"})

    return await once(caller, work)


async def _new(connection: AsyncConnection, body: NewFork, source: ShownWorkspace, caller: Caller) -> NewWorkspace:
    which = body.template or (str(source.template_id) if source.template_id is not None else None)
    if which is None:
        raise UnknownTemplate
    had = {name: value for name, value in source.resources.items() if isinstance(value, int | float)}
    resources = body.resources.given() if body.resources is not None else had
    return await new_workspace(connection, body, which, source.git_url, resources, caller)


@router.post(
    "/workspaces/{workspace_id}/undelete",
    status_code=202,
    response_model=Workspace,
    responses=refusals(*BODY, 401, 403, 404, 409, 429),
)
async def undelete_workspace(
    request: Request,
    workspace_id: UUID,
    caller: Worker,
    once: OnlyOnce,
    body: Annotated[Return | None, Body(description="How it comes back; may be left out.")] = None,
) -> Response:
    """Take a deletion back (`undo_until` of a deleted workspace says until when). Where its home was not yet taken
    away it comes back as it was, otherwise with the files of its archive."""
    wanted = body or Return()

    async def work(connection: AsyncConnection) -> Response:
        wishing = Wishing(request, caller, connection)
        workspace = await wishing.found(workspace_id, deleted=True)
        rests_as = await _rests_as(request, connection, workspace)
        try:
            await wishing.undelete(workspace, wanted.desired_state or rests_as, wanted.name or workspace.name)
        except IntegrityError as error:
            raise NameTaken from error
        return await one_workspace(parts_of(request), await listing.one_with(connection, workspace_id), 202)

    return await once(caller, work)


async def _rests_as(request: Request, connection: AsyncConnection, workspace: Row) -> Desired:
    """What it comes back as. Raises where it does not."""
    if workspace.deleted_at is None:
        raise NotDeleted
    window = idle_policy(parts_of(request).settings).undelete_window
    match consider_undelete(workspace, window, clock.now()):
        case decided.BringBack(Desired.ARCHIVED) if await generations.chosen(connection, workspace, None) is None:
            raise CannotComeBack("Its archive has been collected.")
        case decided.BringBack(rests_as):
            return rests_as
        case decided.BeingDeleted():
            raise StillBeingDeleted
        case decided.NothingLeft():
            raise CannotComeBack("Its home is gone, and there is no archive of it.")
        case decided.TooLate():
            raise CannotComeBack("It was deleted too long ago.")
