"""The archives of a workspace: listed, and kept."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request, Response
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub import clock
from codehub.decide.generations import stays_because
from codehub.decide.orphans import Generation
from codehub.model.accounts import Caller
from codehub.model.workspace import Workspace
from codehub.settings.collecting import collect_policy
from codehub.store import audit, generations
from codehub.store.generations import Archive
from codehub.store.listing import Position
from codehub.web import paging
from codehub.web.actors import actor_of
from codehub.web.api.answers import answer
from codehub.web.api.refusals import BODY, refusals
from codehub.web.api.schemas import archives as schemas
from codehub.web.api.workspace_problems import NoSuchArchive, NoSuchWorkspace
from codehub.web.api.workspaces import whose
from codehub.web.callers import Reader, Worker
from codehub.web.paging import Cursor, Limit
from codehub.web.parts import parts_of

router = APIRouter(tags=["archives"])

ACTIONS = {True: "archive.keep", False: "archive.unkeep"}


@router.get(
    "/workspaces/{workspace_id}/archives",
    response_model=schemas.ArchivePage,
    responses=refusals(401, 403, 404, 422),
)
async def list_archives(
    request: Request, workspace_id: UUID, caller: Reader, cursor: Cursor = None, limit: Limit = 50
) -> Response:
    """The archives of its home, newest first, each with why it stays. Also of a deleted one, while there are any."""
    after = paging.position(cursor)
    async with parts_of(request).writes.connect() as connection:
        workspace = await found(connection, workspace_id, caller)
        shown = await shown_archives(request, connection, workspace)
    rest = [each for each in shown if after is None or (each["made_at"], each["id"]) < (after.created_at, after.id)]
    page, last = paging.cut(rest, limit)
    following = paging.after(Position(last["made_at"], last["id"])) if last is not None else None
    return answer({"items": page, "next": following})


@router.patch(
    "/workspaces/{workspace_id}/archives/{archive_id}",
    response_model=schemas.Archive,
    responses=refusals(*BODY, 401, 403, 404),
)
async def change_archive(
    request: Request, workspace_id: UUID, archive_id: UUID, body: schemas.ArchiveChange, caller: Worker
) -> Response:
    """Keep an archive, however many newer ones there are, or let it go when its turn comes."""
    async with parts_of(request).writes.begin() as connection:
        workspace = await found(connection, workspace_id, caller)
        archive = await generations.chosen(connection, workspace, archive_id)
        if archive is None:
            raise NoSuchArchive
        if archive.kept is not body.kept:
            await generations.keep(connection, archive.id, kept=body.kept)
            told = {"archive_id": str(archive.id), "number": archive.number}
            actor, action = actor_of(request, caller), ACTIONS[body.kept]
            await audit.record(connection, actor, action, subject_id=workspace.id, subject=workspace.name, **told)
        shown = await shown_archives(request, connection, workspace)
    return answer(next(each for each in shown if each["id"] == archive_id))


async def found(connection: AsyncConnection, workspace_id: UUID, caller: Caller) -> Workspace:
    """The caller's own, or for an administrator anybody's, deleted ones among them."""
    workspace = await generations.owned(connection, workspace_id, whose(caller))
    if workspace is None:
        raise NoSuchWorkspace
    return workspace


async def shown_archives(request: Request, connection: AsyncConnection, workspace: Workspace) -> list[dict[str, Any]]:
    """All of them, newest first, as the API tells of them."""
    archives = await generations.archives_of(connection, workspace)
    others = [each for each in await generations.concerned(connection, archives) if each.id != workspace.id]
    known = [_generation(each) for each in archives]
    settings, now = parts_of(request).settings, clock.now()
    policy = collect_policy(settings.archive, settings.retention)
    return [
        {
            "id": each.id,
            "workspace_id": each.workspace_id,
            "number": each.number,
            "made_at": each.made_at,
            "verified_at": each.verified_at,
            "size": each.size,
            "entries": each.entries,
            "sha256": each.sha256,
            "kept": each.kept,
            "current": each.key == workspace.archive_key,
            "stays_because": stays_because(_generation(each), workspace, others, known, policy, now),
        }
        for each in archives
    ]


def _generation(archive: Archive) -> Generation:
    return Generation(archive.key, archive.workspace_id, archive.made_at, archive.kept)
