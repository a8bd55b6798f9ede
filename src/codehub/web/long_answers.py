"""Answers that go on for hours, outside of all that a request needed only to get there.

What routed and authorised a request would wait for its answer's end and be held in memory until then: for an idle event
stream that was half of what it cost."""

from collections.abc import Awaitable, Callable

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

Answering = Callable[[Receive, Send], Awaitable[None]]

_KEY = "codehub.long_answer"
_LEFT_BEHIND = "fastapi_"
"""How the names begin of what FastAPI leaves in a request's scope."""


class LongAnswer(Response):
    """For a route to return; what it answers with is run by `LongAnswers`, once the route is done."""

    def __init__(self, answering: Answering) -> None:
        self._answering = answering
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 (as ASGI calls it)
        scope[_KEY] = self._answering


class LongAnswers:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)
        answering: Answering | None = scope.pop(_KEY, None)
        if answering is not None:
            for name in [name for name in scope if name.startswith(_LEFT_BEHIND)]:
                del scope[name]
            await answering(receive, send)


async def reader_leaves(receive: Receive) -> None:
    """Returns when nobody reads the answer any more."""
    while (await receive())["type"] != "http.disconnect":
        pass
