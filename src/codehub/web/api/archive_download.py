"""An archive as a file: `tar.zst`, as plain tools read it."""

import base64
import contextlib
import re
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from functools import partial
from typing import Annotated, Any
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter, Header, Request, Response

from codehub.archives.errors import ObjectNotFound, StoreError
from codehub.archives.object_store import ObjectStore
from codehub.model.accounts import Caller
from codehub.model.workspace import Workspace
from codehub.store import audit, generations
from codehub.store.away import FOREIGN
from codehub.store.generations import Archive
from codehub.web.actors import actor_of
from codehub.web.api.answers import NOT_STORED
from codehub.web.api.archives import found
from codehub.web.api.refusals import refusals
from codehub.web.api.workspace_problems import ArchiveDamaged, ArchiveStoreAway, NoSuchArchive, RangeNotThere
from codehub.web.callers import Reader
from codehub.web.downloads import Download
from codehub.web.long_answers import LongAnswer
from codehub.web.parts import parts_of
from codehub.web.problems import Refused
from codehub.web.ranges import NotThere, Span, span_of

router = APIRouter(tags=["archives"])

MEDIA_TYPE = "application/zstd"
_FILE: dict[str, Any] = {"content": {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}}
ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"description": "The whole archive.", **_FILE},
    206: {"description": "The part of it that `Range` asks for.", **_FILE},
    304: {"description": "The copy whose `ETag` is named is the same."},
}

WantedRange = Annotated[
    str | None,
    Header(
        alias="Range",
        max_length=100,
        description="Only a part of it, to go on where another download ended: `bytes=FIRST-`, or `bytes=FIRST-LAST`.",
        examples=["bytes=1048576-"],
    ),
]
IfRange = Annotated[
    str | None,
    Header(max_length=200, description="The part only if `ETag` is still this one, and the whole otherwise."),
]
IfNoneMatch = Annotated[
    str | None, Header(max_length=1000, description="Nothing if `ETag` is this one, which is the copy that one has.")
]


@router.get(
    "/workspaces/{workspace_id}/archives/{archive_id}/download",
    response_class=LongAnswer,
    status_code=200,
    responses={**ANSWERS, **refusals(401, 403, 404, 409, 416, 422, 429)},
)
async def download_archive(
    request: Request,
    workspace_id: UUID,
    archive_id: UUID,
    caller: Reader,
    wanted_range: WantedRange = None,
    if_range: IfRange = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """The files of a workspace as they were archived: a `tar.zst` that plain tools unpack (`zstd -d | tar -x`). Also
    while the workspace does not start. `ETag` and `Repr-Digest` name the SHA-256 of the whole."""
    parts = parts_of(request)
    async with parts.writes.connect() as connection:
        workspace = await found(connection, workspace_id, caller)
        archive = await generations.chosen(connection, workspace, archive_id)
    if archive is None:
        raise NoSuchArchive
    etag = f'"{archive.sha256}"'
    if if_none_match is not None and etag in map(str.strip, if_none_match.split(",")):
        return Response(status_code=304, headers={**NOT_STORED, "ETag": etag})
    part = _part(archive, wanted_range if if_range in (None, etag) else None)
    span = part or Span(0, archive.size)
    async with AsyncExitStack() as stack:
        stack.enter_context(parts.downloads.place(caller.user_id))
        pieces = await stack.enter_async_context(aclosing(parts.archives.read(archive.key, span.start, span.length)))
        first = await _first(parts.archives, archive, pieces)
        await _tell(request, caller, workspace, archive)
        headers = _headers(workspace, archive, span) | {"ETag": etag}
        if part is not None:
            headers["Content-Range"] = part.of(archive.size)
        head = Response(status_code=200 if part is None else 206, headers=headers, media_type=MEDIA_TYPE)
        may_go_on = partial(_may_go_on, request)
        download = Download(head.status_code, head.raw_headers, first, pieces, may_go_on, stack.pop_all())
    return LongAnswer(download)


def _part(archive: Archive, wanted: str | None) -> Span | None:
    try:
        return span_of(wanted, archive.size) if wanted is not None else None
    except NotThere:
        raise RangeNotThere(archive.size) from None


async def _first(store: ObjectStore, archive: Archive, pieces: AsyncGenerator[bytes, None]) -> bytes:
    """Read before the answer begins, so that a fault can still be told."""
    try:
        held = await store.head(archive.key)
        if held is None or held.size != archive.size:
            raise ArchiveDamaged(f"The store holds {held.size if held else 0} of its {archive.size} bytes.")
        return await anext(pieces, b"")
    except ObjectNotFound as error:
        raise ArchiveDamaged("The store does not hold it any more.") from error
    except StoreError as error:
        raise ArchiveStoreAway from error


def _headers(workspace: Workspace, archive: Archive, span: Span) -> dict[str, str]:
    name = f"{workspace.name}-{archive.number}-{archive.made_at:%Y-%m-%d}.tar.zst"
    plain = re.sub(r"[^A-Za-z0-9._ -]", "_", name)
    digest = base64.b64encode(bytes.fromhex(archive.sha256)).decode()
    return {
        **NOT_STORED,
        "Accept-Ranges": "bytes",
        "Content-Length": str(span.length),
        "Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}",
        "Repr-Digest": f"sha-256=:{digest}:",
    }


async def _tell(request: Request, caller: Caller, workspace: Workspace, archive: Archive) -> None:
    """Whoever takes the files of a workspace with them stands in the audit log."""
    told = {"archive_id": str(archive.id), "number": archive.number}
    async with parts_of(request).writes.begin() as connection:
        actor = actor_of(request, caller)
        await audit.record(
            connection, actor, "archive.download", subject_id=workspace.id, subject=workspace.name, **told
        )


async def _may_go_on(request: Request) -> bool:
    """Whether the caller still is who may read it. While nobody can tell, yes."""
    try:
        with contextlib.suppress(*FOREIGN):
            await parts_of(request).callers.identify(request)
    except Refused:
        return False
    return True
