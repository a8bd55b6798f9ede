"""Live events: `GET /events`."""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from starlette.types import Receive, Send

from codehub.model.accounts import Caller
from codehub.telemetry.metrics import Metrics
from codehub.web.api.refusals import refusals
from codehub.web.callers import Reader
from codehub.web.long_answers import LongAnswer, reader_leaves
from codehub.web.parts import Parts, parts_of
from codehub.web.problems import ScopeMissing

router = APIRouter(tags=["events"])

SLOW_SECONDS = 30.0
"""A reader that takes nothing for this long is cut off."""

_EXAMPLE = """retry: 2000

id: 1
event: snapshot
data: {"workspaces": [], "part": 1, "complete": true}

id: 2
event: workspace_updated
data: {"id": "0b7c1c2e-5f0e-4c44-9f1c-6c1a2f6f3d10", "name": "garden", "phase": "RUNNING"}

id: 3
event: heartbeat
data: {}

"""
_ANSWER = {
    "description": "Server-sent events, until either side ends it.",
    "content": {"text/event-stream": {"schema": {"type": "string"}, "example": _EXAMPLE}},
}


# The last one is for nginx, which would otherwise hold events back until its buffer is full.
_HEAD = Response(
    media_type="text/event-stream", headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
).raw_headers
_HEADERS = [(name, value) for name, value in _HEAD if name != b"content-length"]


@dataclass(frozen=True, slots=True)
class EventStream:
    """Sends events until the reader goes, falls behind, or may no longer read."""

    parts: Parts
    metrics: Metrics
    caller: Caller
    everyones: bool

    async def __call__(self, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": list(_HEADERS)})
        stream = await self.parts.streams.open(self.caller, everyones=self.everyones)
        leaving = asyncio.create_task(reader_leaves(receive), name="reader of a stream")
        leaving.add_done_callback(lambda _: stream.end())
        try:
            await self.parts.streams.serve(stream, partial(_sent, send), self.parts.settings.events.heartbeat_seconds)
        except TimeoutError:
            stream.fell_behind = True
            return
        finally:
            self.parts.streams.close(stream)
            if stream.fell_behind:
                self.metrics.streams_cut.inc()
            gone = leaving.done()
            leaving.cancel()
            await asyncio.wait([leaving])
        if not gone:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _sent(send: Send, event: bytes) -> None:
    async with asyncio.timeout(SLOW_SECONDS):
        await send({"type": "http.response.body", "body": event, "more_body": True})


@router.get(
    "/events",
    response_class=LongAnswer,
    status_code=200,
    responses={200: _ANSWER, **refusals(401, 403, 422)},
)
async def stream_events(
    request: Request,
    caller: Reader,
    everyones: Annotated[
        bool, Query(alias="all", description="For administrators: the workspaces of everybody, not only their own.")
    ] = False,
) -> LongAnswer:
    """What happens to the caller's workspaces, as server-sent events.

    First `snapshot` (`{workspaces, part, complete}`; where there are many, in parts from 1 on until `complete`), then
    `workspace_updated` (the whole workspace), `workspace_deleted` (`{id}`) and `workspace_progress` (`{id, stage,
    bytes, total, rate, eta, waiting, service, entries}`) as they happen, and `heartbeat` when nothing does. After a
    `resync`, which says that something may have been missed, a new `snapshot` follows by itself. A stream that ends,
    for whatever reason, is to be opened again: it begins with a snapshot, so `Last-Event-ID` is not needed."""
    if everyones and not caller.administers:
        raise ScopeMissing("Only an administrator may do this.")
    metrics: Metrics = request.app.state.process.metrics
    return LongAnswer(EventStream(parts_of(request), metrics, caller, everyones))
