"""One's own workspaces: made, listed, looked at and deleted."""

from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import parse_qsl
from uuid import UUID, uuid4

from fastapi import APIRouter, Request, Response
from pydantic import ValidationError
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.decide.idle import NEVER
from codehub.decide.undelete import undo_until
from codehub.model.accounts import Caller
from codehub.model.states import Desired, Phase
from codehub.settings import Settings
from codehub.settings.idle_times import idle_policy
from codehub.store import listing
from codehub.store import templates as stored_templates
from codehub.store.listing import Wanted
from codehub.store.wishes import NewWorkspace
from codehub.web import paging
from codehub.web.api.answers import answer, one_workspace, page_of_workspaces
from codehub.web.api.refusals import BODY, refusals
from codehub.web.api.schemas.archives import NewFork
from codehub.web.api.schemas.filters import Filter, WorkspaceFilter
from codehub.web.api.schemas.wishes import NewWorkspaceBody
from codehub.web.api.schemas.workspace import Workspace
from codehub.web.api.schemas.workspaces import Deleted, WorkspacePage
from codehub.web.api.short_ways import Quick, identifier, short_way_of
from codehub.web.api.workspace_problems import (
    AboveCeiling,
    AboveTemplate,
    NameTaken,
    NoSuchWorkspace,
    UnknownTemplate,
)
from codehub.web.callers import Reader, Worker
from codehub.web.idempotency import OnlyOnce
from codehub.web.parts import parts_of
from codehub.web.wishing import Wishing

router = APIRouter(tags=["workspaces"], route_class=Quick)

FOREIGN_KEY_VIOLATION = "23503"


@router.get("/workspaces", response_model=WorkspacePage, responses=refusals(401, 403, 422))
async def list_workspaces(request: Request, narrowed: Filter, caller: Reader) -> Response:
    """The caller's living workspaces, or the deleted ones, newest first. `next` says where the next page begins."""
    return await a_page(request, narrowed.wanted(caller.user_id))


async def a_page(request: Request, wanted: Wanted) -> Response:
    """Of what is wanted, which is one more than shall be shown."""
    parts = parts_of(request)
    shown, last = paging.cut(await listing.page(parts.reads, wanted), wanted.limit - 1)
    following = paging.after(listing.Position(last.created_at, last.id)) if last is not None else None
    return await page_of_workspaces(parts, shown, following)


@router.post("/workspaces", status_code=201, response_model=Workspace, responses=refusals(*BODY, 401, 403, 409, 429))
async def create_workspace(request: Request, body: NewWorkspaceBody, caller: Worker, once: OnlyOnce) -> Response:
    """Make a workspace, and start it unless STANDBY is wished. Its place among the running ones is taken with it."""
    refuse_above_ceiling(parts_of(request).settings, body.standby_after_seconds, body.archive_after_seconds)

    async def work(connection: AsyncConnection) -> Response:
        new = await new_workspace(connection, body, body.template, body.git_url, body.resources.given(), caller)
        try:
            await Wishing(request, caller, connection).create(new, body.desired_state)
        except IntegrityError as error:
            if getattr(error.orig, "sqlstate", None) == FOREIGN_KEY_VIOLATION:
                raise UnknownTemplate from error
            raise NameTaken from error
        shown = await listing.one_with(connection, new.id)
        return await one_workspace(parts_of(request), shown, 201, {"Location": f"/api/v1/workspaces/{new.id}"})

    return await once(caller, work)


async def usable_template(
    connection: AsyncConnection, which: str, resources: Mapping[str, float], caller: Caller
) -> stored_templates.ShownTemplate:
    """The template of this name or id. Raises where there is none, or where it gives less than is asked for."""
    template = await stored_templates.find(connection, which)
    if template is None:
        raise UnknownTemplate
    for name, asked in resources.items():
        given = template.resources.get(name)
        if given is not None and asked > given and not caller.administers:
            raise AboveTemplate(f"{name} is at most {given} with this template.", at=f"resources.{name}")
    return template


async def new_workspace(
    connection: AsyncConnection,
    body: NewWorkspaceBody | NewFork,
    which: str,
    git_url: str | None,
    resources: dict[str, float],
    caller: Caller,
) -> NewWorkspace:
    """A row for what is asked for, with the template of this name or id."""
    template = await usable_template(connection, which, resources, caller)
    return NewWorkspace(
        id=uuid4(),
        owner_user_id=caller.user_id,
        name=body.name,
        template_id=template.id,
        description=body.description,
        memo=body.memo,
        git_url=git_url,
        resources=resources,
        standby_after_seconds=body.standby_after_seconds,
        archive_after_seconds=body.archive_after_seconds,
    )


def refuse_above_ceiling(settings: Settings, standby: int | None, archive: int | None) -> None:
    """Never is above every ceiling."""
    ceilings = {
        "standby_after_seconds": (standby, settings.ttl.standby_ceiling_seconds),
        "archive_after_seconds": (archive, settings.ttl.archive_ceiling_seconds),
    }
    for field, (asked, ceiling) in ceilings.items():
        if asked is not None and ceiling != NEVER and (asked == NEVER or asked > ceiling):
            raise AboveCeiling(f"{field} is at most {ceiling} here.", at=field)


@router.get("/workspaces/{workspace_id}", response_model=Workspace, responses=refusals(401, 403, 404, 422))
async def get_workspace(request: Request, workspace_id: UUID, caller: Reader) -> Response:
    """One workspace with its explanation. `ETag` names its version, for `If-Match`."""
    parts = parts_of(request)
    found = await listing.one(parts.reads, workspace_id, whose(caller))
    if found is None:
        raise NoSuchWorkspace
    return await one_workspace(parts, found)


_reader = identifier(Reader)


@short_way_of("get_workspace")
async def _get_workspace(request: Request) -> Response | None:
    try:
        workspace_id = UUID(request.path_params["workspace_id"])
    except ValueError:
        return None
    return await get_workspace(request, workspace_id, await _reader(request))


@short_way_of("list_workspaces")
async def _list_workspaces(request: Request) -> Response | None:
    """A page asks for the same list again and again."""
    narrowed = _known_filter(request.url.query)
    return await list_workspaces(request, narrowed, await _reader(request)) if narrowed is not None else None


@lru_cache(maxsize=1000)
def _known_filter(query: str) -> WorkspaceFilter | None:
    """None for what is not allowed, or says the same thing twice."""
    given = parse_qsl(query, keep_blank_values=True)
    try:
        return WorkspaceFilter.model_validate(dict(given)) if len(given) == len(dict(given)) else None
    except ValidationError:
        return None


def whose(caller: Caller) -> UUID | None:
    """Whose workspaces a caller may act on; None for everybody's."""
    return None if caller.administers else caller.user_id


@router.delete(
    "/workspaces/{workspace_id}",
    status_code=202,
    response_model=Deleted,
    responses={200: {"model": Deleted, "description": "Nothing is left of it."}, **refusals(401, 403, 404, 422)},
)
async def delete_workspace(request: Request, workspace_id: UUID, caller: Worker) -> Response:
    """Delete a workspace with its home. Where there is an archive of it, that is kept for a while, and with it the
    workspace can be brought back (`POST /workspaces/{id}/undelete`). Asked for again it answers the same, as long as
    its row is kept; how far it is can be read from `phase`, here and in its history."""
    async with parts_of(request).writes.begin() as connection:
        wishing = Wishing(request, caller, connection)
        workspace = await wishing.found(workspace_id, deleted=True)
        if workspace.deleted_at is None:
            await wishing.wish(workspace, Desired.DELETED)
        shown = await listing.one_with(connection, workspace_id)
    window = idle_policy(parts_of(request).settings).undelete_window
    until = undo_until(shown, window)
    content = {
        "id": shown.id,
        "name": shown.name,
        "deleted_at": shown.deleted_at,
        "phase": shown.phase,
        "undo_until": until,
        "as_of": shown.archive.made_at if until is not None and shown.archive is not None else None,
    }
    return answer(content, 200 if shown.phase is Phase.DELETED else 202)
