"""Signs of life that pass through the front door, told to whoever keeps them (contract 14)."""

from uuid import UUID

from codehub.bus.activity import Activity
from codehub.clock import elapsed
from codehub.model.activity import Kind
from codehub.proxy.activity import tunnel
from codehub.proxy.activity.frames import Side
from codehub.proxy.activity.recording import Recordings
from codehub.proxy.activity.requests import Requests
from codehub.proxy.doorkeeper import Asked, Forward, Watcher
from codehub.proxy.places import At


class Signs:
    def __init__(self, activity: Activity, recordings: Recordings | None = None) -> None:
        self.record = activity.record
        self._recordings = recordings
        self._requests = Requests()

    def asked(self, asked: Asked, at: At) -> None:
        """One request that is passed on to a workspace."""
        if not asked.is_upgrade:
            kind = self._requests.seen(at.workspace_id, asked.method, at.inside, asked.headers, elapsed())
            if kind is not None:
                self.record(at.workspace_id, kind)

    def watcher(self, _asked: Asked, forward: Forward) -> Watcher:
        listened = tunnel.listen(forward.target)
        listening = _Listening(self, forward.workspace_id, listened.from_client, listened.from_server)
        return listening if self._recordings is None else self._recordings.beside(listening, forward)


class _Listening:
    __slots__ = ("_client", "_server", "_signs", "_workspace_id")

    def __init__(self, signs: Signs, workspace_id: UUID, client: Side, server: Side) -> None:
        self._signs = signs
        self._workspace_id = workspace_id
        self._client = client
        self._server = server

    def from_visitor(self, data: bytes) -> None:
        self._note(self._client.feed(data, elapsed()))

    def from_workspace(self, data: bytes) -> None:
        self._note(self._server.feed(data, elapsed()))

    def ended(self) -> None:
        """That a tunnel ends is no activity."""

    def _note(self, kind: Kind | None) -> None:
        if kind is not None:
            self._signs.record(self._workspace_id, kind)
