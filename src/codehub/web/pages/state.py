"""What a waking page is told: how far one workspace is, and nothing else. A script of that workspace can read it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson
from starlette.responses import Response
from starlette.types import Receive, Send

from codehub.decide.explain import current, explain
from codehub.model.shown import Live, ShownWorkspace
from codehub.model.states import Desired, Operation, Phase
from codehub.settings.idle_times import idle_policy
from codehub.store.away import FOREIGN
from codehub.store.listing import one
from codehub.web.front_door import Visited
from codehub.web.long_answers import reader_leaves
from codehub.web.pages.telling import Telling
from codehub.web.parts import Parts

GATHER_SECONDS = 0.05
"""What happens so soon after something was told is told together; what comes after a silence is told at once."""
LOOK_SECONDS = 2.0
"""How often it is looked at by itself: nothing is heard while Redis is away."""
SLOW_SECONDS = 30.0

_HEAD = Response(
    media_type="text/event-stream", headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
).raw_headers
_HEADERS = [(name, value) for name, value in _HEAD if name != b"content-length"]


async def state_of(parts: Parts, shown: ShownWorkspace, told: Telling) -> dict[str, Any]:
    """With all the words that the page shows, in its reader's language."""
    live = current(shown, (await parts.notes.about((shown,))).get(shown.id))
    explanation = explain(shown, live, idle_policy(parts.settings), told.wording())
    return {
        "phase": shown.phase,
        "summary": explanation.summary,
        "is_asleep": shown.desired_state is not Desired.RUNNING,
        "is_ready": shown.phase is Phase.RUNNING and shown.operation is not Operation.STOPPING,
        "is_over": shown.phase in {Phase.ERROR, Phase.DELETING, Phase.DELETED},
        "bytes": live.bytes if live is not None else None,
        "total": live.total if live is not None else None,
        "detail": moved(live, told) or told.language.say("place.turns"),
    }


def moved(live: Live | None, told: Telling) -> str:
    """How much of a home has been moved, where that is known."""
    if live is None or live.bytes is None or not live.total:
        return ""
    sizes = {"done": told.size(live.bytes), "total": told.size(live.total)}
    if live.eta is None:
        return told.language.say("place.moved", **sizes)
    return told.language.say("place.moved_with_rest", **sizes, left=told.lasting(live.eta))


@dataclass(frozen=True, slots=True)
class StateStream:
    """Server-sent events: the state whenever it has changed, the last of them when it runs or cannot."""

    parts: Parts
    visitor: Visited
    told: Callable[[], Telling]
    """How its reader is told something now."""

    async def __call__(self, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": list(_HEADERS)})
        bell = await self.parts.streams.open(self.visitor.caller, everyones=False)
        leaving = asyncio.create_task(reader_leaves(receive), name="reader of a state")
        leaving.add_done_callback(lambda _: bell.end())
        told, is_last = b"retry: 1000\n\n", False
        try:
            while not (bell.is_over or is_last):
                newest, is_last = await self._newest()
                if newest != told:
                    async with asyncio.timeout(SLOW_SECONDS):
                        await send({"type": "http.response.body", "body": newest, "more_body": True})
                told = newest
                if not is_last:
                    await asyncio.sleep(GATHER_SECONDS)
                    await bell.stirs(LOOK_SECONDS)
                    bell.waiting.clear()
                    bell.begins_with = None
        except TimeoutError:
            return
        finally:
            self.parts.streams.close(bell)
            gone = leaving.done()
            leaving.cancel()
            await asyncio.wait([leaving])
        if not gone:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _newest(self) -> tuple[bytes, bool]:
        """The event, and whether nothing follows it. While the database is away there is nothing new."""
        try:
            shown = await one(self.parts.reads, self.visitor.workspace_id, self.visitor.caller.user_id)
        except FOREIGN:
            return b": the database is away\n\n", False
        if shown is None:
            return b'event: state\ndata: {"is_over":true}\n\n', True
        state = await state_of(self.parts, shown, self.told())
        return b"event: state\ndata: %b\n\n" % orjson.dumps(state), bool(state["is_ready"] or state["is_over"])
