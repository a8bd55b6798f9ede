"""A doorkeeper fed from a table: whose workspace is where, and who is who.

It keeps the contract of every doorkeeper (`proxy/doorkeeper.py`) and decides by the same few rules, without a database:
the tests of the data path are about bytes."""

import re
from dataclasses import dataclass, field
from uuid import UUID, uuid5

from codehub.model.conditions import Endpoint
from codehub.proxy.doorkeeper import Asked, Decision, Forward, Reply, ToApi, Upstream, Watcher

COOKIE = b"codehub-workspace"
DOMAIN = b".dev.test"
PATHS = b"paths.test"
"""The second origin, where workspaces are told apart by their paths."""
API = b"codehub.test"
NAMES = UUID("6f1c7f8e-3c55-4b0e-9f51-0d6a6d3d2a10")

_PATH = re.compile(rb"/w/([0-9a-f]{32})(/.*)")
_HOST = re.compile(rb"([0-9a-f]{32})\.dev\.test(?::[0-9]+)?")


def reply(status: bytes, body: bytes = b"") -> Reply:
    return Reply(b"HTTP/1.1 %b\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body))


@dataclass
class Watching:
    """A watcher that remembers what it was told."""

    target: bytes
    visitor: bytearray = field(default_factory=bytearray)
    workspace: bytearray = field(default_factory=bytearray)
    has_ended: bool = False
    fails: bool = False

    def from_visitor(self, data: bytes) -> None:
        if self.fails:
            raise ValueError("a watcher that cannot follow")
        self.visitor += data

    def from_workspace(self, data: bytes) -> None:
        self.workspace += data

    def ended(self) -> None:
        self.has_ended = True


@dataclass
class Place:
    upstream: Upstream
    owner: bytes


@dataclass
class TableKeeper:
    """Tokens name their owners: `<owner>-secret`."""

    places: dict[bytes, Place] = field(default_factory=dict)
    api: Upstream | None = None
    has_to_find_out: bool = False
    watchers: list[Watching] = field(default_factory=list)
    watchers_fail: bool = False
    unanswered: list[Upstream] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)

    def put(self, name: str, owner: bytes, endpoint: Endpoint) -> bytes:
        """A workspace, or a new life of it; returns its id."""
        workspace = uuid5(NAMES, name).hex.encode()
        if workspace in self.places:
            self.places[workspace].upstream.is_over = True
        self.places[workspace] = Place(Upstream(endpoint), owner)
        return workspace

    def decide(self, asked: Asked) -> Decision | None:
        self.asked.append(asked)
        return None if self.has_to_find_out else self._decision(asked)

    async def find_out(self, asked: Asked) -> Decision:
        return self._decision(asked)

    def nobody_answers(self, upstream: Upstream) -> None:
        self.unanswered.append(upstream)

    def watcher(self, asked: Asked, _forward: Forward) -> Watcher | None:
        watching = Watching(asked.target, fails=self.watchers_fail)
        self.watchers.append(watching)
        return watching

    def _decision(self, asked: Asked) -> Decision:
        if asked.host == API and self.api is not None:
            return ToApi(self.api, asked.target, b"X-Codehub-Visitor: %b\r\n" % asked.peer.encode())
        if found := _HOST.fullmatch(asked.host):
            return self._forward(asked, found[1], asked.target, b"")
        path = _PATH.fullmatch(asked.target) if asked.host == PATHS else None
        if path is None:
            return reply(b"404 Not Found")
        return self._forward(asked, path[1], path[2], b"/w/%b/" % path[1])

    def _forward(self, asked: Asked, workspace: bytes, target: bytes, mount: bytes) -> Decision:
        secrets = [value for name, value in asked.cookies if name == COOKIE]
        if asked.token is not None:
            secrets.append(asked.token.removeprefix(b"codehub_"))
        place = self.places.get(workspace)
        if not secrets:
            return reply(b"401 Unauthorized")
        if asked.is_upgrade and not self._is_of_host(asked):
            return reply(b"403 Forbidden")
        if place is None or place.owner + b"-secret" not in secrets:
            return reply(b"404 Not Found")
        session = uuid5(NAMES, secrets[0].decode("latin-1"))
        return Forward(place.upstream, UUID(workspace.decode()), session, target, mount)

    def _is_of_host(self, asked: Asked) -> bool:
        origin = asked.headers.get(b"origin")
        return asked.token is not None if origin is None else origin == b"%b://%b" % (asked.scheme, asked.host)
