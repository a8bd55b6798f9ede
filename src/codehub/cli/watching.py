"""A workspace as it changes: told by the server's stream of events, and where that fails looked up again and again."""

import json
import time
from collections.abc import Iterator

import httpx

from codehub.cli.refusals import TimedOut
from codehub.cli.server import Document, Server
from codehub.errors import CodehubError, NotRunning, ServiceError

SILENCE_SECONDS = 75.0
"""A stream says something at least every 30 seconds, unless it is dead."""
LOOK_SECONDS = 1.0
AWAY_SECONDS = 60.0
"""A server that is started again meanwhile is waited for."""


class Watch:
    """One workspace. `deadline` is on the monotonic clock; None for no end."""

    def __init__(self, server: Server, workspace_id: str, deadline: float | None = None) -> None:
        self._server = server
        self._id = workspace_id
        self._deadline = deadline
        self._is_streamed = True

    def states(self) -> Iterator[Document]:
        """The whole document: now, and whenever it changes. Raises TimedOut, or NotFound when it is deleted."""
        last_seen = time.monotonic()
        while True:
            try:
                shown = self._server.get(f"/workspaces/{self._id}")
            except (NotRunning, ServiceError):
                if time.monotonic() - last_seen > AWAY_SECONDS:
                    raise
            else:
                yield shown
                if self._is_streamed:
                    yield from self._told()
                last_seen = time.monotonic()
            time.sleep(min(LOOK_SECONDS, self._left()))

    def _told(self) -> Iterator[Document]:
        """By one stream, until it ends for whatever reason."""
        shown: Document | None = None
        try:
            with self._server.lines("/events", min(SILENCE_SECONDS, self._left())) as response:
                for name, data in _events(response):
                    self._left()
                    shown = self._after(shown, name, data)
                    if name == "snapshot" and data["complete"] and shown is None:
                        self._is_streamed = False  # somebody else's, which an administrator looks at
                        return
                    if shown is not None and name != "heartbeat":
                        yield shown
                    if name == "workspace_deleted" and data["id"] == self._id:
                        return
        except TimedOut:
            raise
        except CodehubError:  # it is looked up instead, which tells what is wrong
            return

    def _after(self, shown: Document | None, name: str, data: Document) -> Document | None:
        match name:
            case "snapshot":
                return next((each for each in data["workspaces"] if each["id"] == self._id), shown)
            case "workspace_updated" if data["id"] == self._id:
                return data
            case "workspace_progress" if data["id"] == self._id and shown is not None and shown["operation"]:
                return {**shown, "operation": {**shown["operation"], "progress": data}}
            case _:
                return shown

    def _left(self) -> float:
        if self._deadline is None:
            return float("inf")
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimedOut("It took longer than you wanted to wait.")
        return left


def _events(response: httpx.Response) -> Iterator[tuple[str, Document]]:
    """Server-sent events, as the API sends them: one line of data each."""
    name = ""
    for line in response.iter_lines():
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, json.loads(value)
