"""The archives of a workspace on its page: kept, downloaded and forked from. `exits.py` restores them."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form, Request
from pydantic import ValidationError
from starlette.responses import Response

from codehub.model.accounts import Caller
from codehub.model.workspace import Workspace
from codehub.store import generations
from codehub.store.generations import Archive
from codehub.web.api import archive_download, archives
from codehub.web.api.schemas.archives import ArchiveChange, NewFork
from codehub.web.api.workspace_problems import NoArchive, NoSuchArchive
from codehub.web.api.workspace_requests import fork_workspace
from codehub.web.idempotency import Once
from codehub.web.pages.actions import told
from codehub.web.pages.reading import Message, person
from codehub.web.pages.refusing import NONE, Mistakes, wrong_fields
from codehub.web.pages.render import form_page
from codehub.web.parts import parts_of
from codehub.web.problems import Refused

router = APIRouter(prefix="/workspaces/{workspace_id}", include_in_schema=False)

Sent = Annotated[str, Form(alias="csrf_token")]
Which = Annotated[UUID | None, Form()]
Name = Annotated[str, Form(max_length=1000)]


@router.post("/archives/{archive_id}/keep")
async def keep(
    request: Request, workspace_id: UUID, archive_id: UUID, token: Sent, kept: Annotated[bool, Form()]
) -> Response:
    caller = await parts_of(request).callers.identify_form(request, token)
    _, archive = await _chosen(request, caller, workspace_id, archive_id)
    await archives.change_archive(request, workspace_id, archive_id, ArchiveChange(kept=kept), caller)
    done = Message(f"archives.{'is_kept' if kept else 'may_go'}", {"number": archive.number})
    return told(request, caller, [done])


@router.get("/archives/{archive_id}/download")
async def download(
    request: Request,
    workspace_id: UUID,
    archive_id: UUID,
    wanted_range: archive_download.WantedRange = None,
    if_range: archive_download.IfRange = None,
) -> Response:
    """As the API gives it, but whoever is refused gets a page."""
    caller = await person(request)
    return await archive_download.download_archive(request, workspace_id, archive_id, caller, wanted_range, if_range)


@router.get("/fork")
async def ask_to_fork(request: Request, workspace_id: UUID, archive: UUID | None = None) -> Response:
    return await _fork_page(request, await person(request), workspace_id, archive, "")


@router.post("/fork")
async def fork(request: Request, workspace_id: UUID, token: Sent, name: Name, archive: Which = None) -> Response:
    caller = await parts_of(request).callers.identify_form(request, token)
    try:
        new = NewFork(name=name.strip(), archive_id=archive)
        await fork_workspace(request, workspace_id, new, caller, Once(request))
    except ValidationError as error:
        mistakes = Mistakes(wrong=wrong_fields(error))
        return await _fork_page(request, caller, workspace_id, archive, name, mistakes)
    except Refused as refusal:
        return await _fork_page(request, caller, workspace_id, archive, name, Mistakes(refusal))
    source, _ = await _chosen(request, caller, workspace_id, archive)
    return told(request, caller, [Message("done.forked", {"name": new.name, "source": source.name})])


async def _fork_page(
    request: Request,
    caller: Caller,
    workspace_id: UUID,
    archive_id: UUID | None,
    name: str,
    mistakes: Mistakes = NONE,
) -> Response:
    source, archive = await _chosen(request, caller, workspace_id, archive_id)
    return form_page(
        request,
        "fork.html",
        mistakes.status,
        caller=caller,
        source=source,
        archive=archive,
        name=name,
        trouble=mistakes.said(request, caller),
        wrong=mistakes.wrong,
    )


async def _chosen(
    request: Request, caller: Caller, workspace_id: UUID, archive_id: UUID | None
) -> tuple[Workspace, Archive]:
    """The archive of this id, or the current one."""
    async with parts_of(request).writes.connect() as connection:
        workspace = await archives.found(connection, workspace_id, caller)
        archive = await generations.chosen(connection, workspace, archive_id)
    if archive is None:
        raise NoArchive if archive_id is None else NoSuchArchive
    return workspace, archive
