"""What a running workspace prints and uses, asked of the runtime itself."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from codehub import clock
from codehub.model.accounts import Caller
from codehub.store import listing
from codehub.store.away import FOREIGN
from codehub.web.api.answers import NOT_STORED, answer
from codehub.web.api.refusals import refusals
from codehub.web.api.schemas.workspaces import WorkspaceStats
from codehub.web.api.workspace_problems import NoSuchWorkspace, NotRunning
from codehub.web.api.workspaces import whose
from codehub.web.callers import Reader
from codehub.web.parts import parts_of
from codehub.web.problems import Refused
from codehub.web.process import Process

router = APIRouter(tags=["workspaces"])

CHECK_SECONDS = 5.0
"""How long somebody who may no longer look can go on following."""
MOST_LINES = 10_000

Tail = Annotated[int, Query(ge=1, le=MOST_LINES, description="How many of the last lines.")]
Follow = Annotated[bool, Query(description="Go on with what is printed, until it ends or the reader leaves.")]
TEXT = "text/plain; charset=utf-8"
LINES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The lines, as they were printed.",
        "content": {"text/plain": {"schema": {"type": "string"}, "example": "listening on port 8080\n"}},
    }
}


@router.get(
    "/workspaces/{workspace_id}/logs",
    response_class=Response,
    responses={**LINES, **refusals(401, 403, 404, 409, 422)},
)
async def get_workspace_logs(
    request: Request, workspace_id: UUID, caller: Reader, tail: Tail = 200, follow: Follow = False
) -> Response:
    """What its container printed last, as text. Nothing is kept of a container that is gone: `not_running`."""
    instance = await _instance(request, workspace_id, caller)
    async with AsyncExitStack() as stack:
        runtime = await stack.enter_async_context(parts_of(request).runtime.looking())
        lines = await stack.enter_async_context(
            contextlib.aclosing(runtime.instances.logs(instance, tail, follow=follow))
        )
        if not follow:
            return Response(b"".join([piece async for piece in lines]), 200, NOT_STORED, TEXT)
        first = await anext(lines, b"")  # before the answer begins, so that a fault can still be told
        following = _followed(request, first, lines, stack.pop_all())
        return StreamingResponse(following, 200, {**NOT_STORED, "X-Accel-Buffering": "no"}, TEXT)


async def _followed(
    request: Request, first: bytes, lines: AsyncGenerator[bytes, None], stack: AsyncExitStack
) -> AsyncIterator[bytes]:
    """Piece by piece, as long as the one who reads it may. Holds no connection to the database meanwhile."""
    async with stack:
        yield first
        ending = asyncio.ensure_future(_end(request))
        piece = asyncio.ensure_future(anext(lines, None))
        try:
            while True:
                await asyncio.wait([piece, ending], return_when=asyncio.FIRST_COMPLETED)
                if ending.done() or (said := piece.result()) is None:
                    return
                piece = asyncio.ensure_future(anext(lines, None))
                yield said
        finally:
            piece.cancel()
            ending.cancel()
            await asyncio.wait([piece, ending])


async def _end(request: Request) -> None:
    """Returns when whoever reads may no longer, or when this process is about to end."""
    process: Process = request.app.state.process
    with contextlib.suppress(Refused, *FOREIGN):
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CHECK_SECONDS):
                    return await process.drain.begun()
            await parts_of(request).callers.identify(request)


@router.get(
    "/workspaces/{workspace_id}/stats", response_model=WorkspaceStats, responses=refusals(401, 403, 404, 409, 422)
)
async def get_workspace_stats(request: Request, workspace_id: UUID, caller: Reader) -> Response:
    """What its container uses at this moment. Without a container: `not_running`."""
    instance = await _instance(request, workspace_id, caller)
    async with parts_of(request).runtime.looking() as runtime:
        stats = await runtime.instances.stats(instance)
    content = {
        "at": clock.now(),
        "cpu_seconds": stats.cpu_seconds,
        "memory_bytes": stats.memory_bytes,
        "memory_limit_bytes": stats.memory_limit_bytes,
        "pids": stats.pids,
    }
    return answer(content)


async def _instance(request: Request, workspace_id: UUID, caller: Caller) -> str:
    """The container that was last seen of it."""
    reads = parts_of(request).reads
    if await listing.one(reads, workspace_id, whose(caller)) is None:
        raise NoSuchWorkspace
    instance = await listing.instance_of(reads, workspace_id)
    if instance is None:
        raise NotRunning
    return instance
