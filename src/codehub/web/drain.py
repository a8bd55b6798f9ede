"""The last moments of a process that is being replaced: nobody who is connected to it is cut off."""

import asyncio
from collections.abc import Callable

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codehub.web.measured import is_stream


class Drain:
    """Begun once, when this process no longer accepts connections; everything that goes on for ever ends then."""

    def __init__(self) -> None:
        self._begun = asyncio.Event()
        self._ends: set[Callable[[], None]] = set()

    @property
    def has_begun(self) -> bool:
        return self._begun.is_set()

    def begin(self) -> None:
        self._begun.set()
        for end in list(self._ends):
            end()

    async def begun(self) -> None:
        await self._begun.wait()

    def when_begun(self, end: Callable[[], None]) -> None:
        """Call this then, unless it is forgotten before: thousands of streams wait without a task of their own."""
        self._ends.add(end)
        if self.has_begun:
            end()

    def forget(self, end: Callable[[], None]) -> None:
        self._ends.discard(end)


class Draining:
    """From then on each answer asks for its connection to be given up, so that the next request comes to a successor,
    and streams end: readers of events connect again, to a successor, and begin with a snapshot."""

    def __init__(self, app: ASGIApp, drain: Drain) -> None:
        self.app = app
        self.drain = drain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        exchange = _Exchange(self.drain, receive, send)
        try:
            await self.app(scope, exchange.receive, exchange.send)
            await exchange.end_stream()
        finally:
            self.drain.forget(exchange.end)
        return None


class _Exchange:
    def __init__(self, drain: Drain, receive: Receive, send: Send) -> None:
        self._drain = drain
        self._receive = receive
        self._send = send
        self._coming: asyncio.Future[Message] | None = None
        self._streams = False
        self._has_ended = False

    async def receive(self) -> Message:
        """To a stream that is to end it looks as if its reader had gone."""
        if self._has_ended:
            return {"type": "http.disconnect"}
        self._coming = asyncio.ensure_future(self._receive())
        try:
            return await self._coming
        except asyncio.CancelledError:
            if not self._is_to_end():
                raise
            return {"type": "http.disconnect"}

    def _is_to_end(self) -> bool:
        """Not so if it is this request that is cancelled."""
        task = asyncio.current_task()
        return self._has_ended and (task is None or not task.cancelling())

    def end(self) -> None:
        self._has_ended = True
        if self._coming is not None:
            self._coming.cancel()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._streams = is_stream(message["headers"])
            if self._drain.has_begun:
                MutableHeaders(scope=message)["Connection"] = "close"
            if self._streams:
                self._drain.when_begun(self.end)
        elif not message.get("more_body", False):
            self._streams = False
        await self._send(message)

    async def end_stream(self) -> None:
        """The application has let go of a stream: end it as HTTP asks, so that it is no failure to its reader. One that
        ended for another reason is the application's own: its reader may take nothing any more."""
        if self._streams and self._has_ended:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
