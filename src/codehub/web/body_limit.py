"""How much a request may bring. Bodies are read into memory before anybody is asked who they are."""

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codehub.web.problems import problem

MOST_BYTES = 1024 * 1024
"""Many times the longest text that any route takes."""
SENTENCE = f"The body is too large: {MOST_BYTES} bytes are the most."


class BodyLimit:
    """Refuses a body by the length that it announces, and one that announces none as soon as it is too long."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in {"GET", "HEAD"}:
            return await self.app(scope, receive, send)
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isdigit() and int(announced) > MOST_BYTES:
            refused = problem(413, code="too_large", detail=SENTENCE, headers={"Connection": "close"})
            return await refused(scope, receive, send)
        brought = 0

        async def counted() -> Message:
            nonlocal brought
            message = await receive()
            brought += len(message.get("body", b""))
            if brought > MOST_BYTES:
                raise HTTPException(413, SENTENCE)
            return message

        return await self.app(scope, counted, send)
