"""Every request has an id: in its answer, in each log line that it causes and in its trace."""

import re
import secrets

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = b"x-request-id"
SANE = re.compile(rb"[A-Za-z0-9._-]{8,64}")


class RequestIds:
    """Takes the id that a proxy in front of us gave, if it is one that may stand in a log line, else makes one.

    The id stays bound when the request is over: each request runs in a task of its own, and what the server itself says
    about it comes last."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        given = next((value for name, value in scope["headers"] if name == HEADER), b"")
        request_id = (given if SANE.fullmatch(given) else secrets.token_hex(8).encode()).decode("ascii")
        scope.setdefault("state", {})["request_id"] = request_id
        structlog.contextvars.bind_contextvars(request_id=request_id)

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (HEADER, request_id.encode("ascii"))]
            await send(message)

        return await self.app(scope, receive, send_with_id)
