"""What the data path asks before it lets anybody in, and what it may be told.

The data path knows bytes, the doorkeeper knows people and workspaces. Between them stand these few words, so that each
can be changed and tested without the other."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol
from uuid import UUID

from codehub.model.conditions import Endpoint


@dataclass(slots=True, eq=False)
class Upstream:
    """One life of something that answers: a container, or a process of the API. Kept connections belong to it.

    The doorkeeper has one object for each life and marks it over when a newer one takes its place. From then on no kept
    connection of it is used and none is kept: addresses are reused, and a stranger may answer there."""

    endpoint: Endpoint
    is_over: bool = False


@dataclass(slots=True)
class Asked:
    """What one request says of who asks for what. The data path has read it once; nobody reads the head again."""

    method: bytes
    target: bytes
    """As sent: beginning with `/`, or `*`. Nothing is decoded or normalised, neither here nor further on."""
    host: bytes
    """The Host header in lower case, with its port if it has one: a name or an address of a plain form."""
    is_upgrade: bool
    """Whether it wants to become a WebSocket; no other upgrade is passed on."""
    cookies: tuple[tuple[bytes, bytes], ...]
    """Every cookie with a name of ours (`our_names.py`), in the order sent. One name may come twice: a page of another
    subdomain can put its own beside ours."""
    token: bytes | None
    """The bearer token of ours, or None. Somebody else's Authorization is the workspace's business."""
    headers: Mapping[bytes, bytes]
    """Of the headers in `NOTED` those that were sent, by their names in lower case; sent twice, the values joined."""
    peer: str
    """The visitor's address: of the connection, or what a trusted proxy says. Empty on a unix socket."""
    scheme: bytes
    """`http` or `https`, as the visitor sees it."""


NOTED = (
    b"accept",
    b"if-modified-since",
    b"if-none-match",
    b"origin",
    b"sec-fetch-dest",
    b"sec-fetch-mode",
    b"sec-fetch-site",
    b"purpose",
    b"sec-purpose",
)


@dataclass(slots=True, eq=False)
class Forward:
    """To the workspace, without anything of ours. Not frozen only because that would cost a microsecond per request."""

    upstream: Upstream
    workspace_id: UUID
    session_id: UUID
    """Whose right this is: of a session or a token. When it ends, what it holds open is cut (`Visits`)."""
    target: bytes
    mount: bytes = b""
    """The path under which browsers see the workspace, `/w/{id}/`; empty where it has an origin of its own."""


@dataclass(frozen=True, slots=True)
class ToApi:
    """To the API and its pages, with our cookies and tokens as they were sent."""

    upstream: Upstream
    target: bytes
    headers: bytes = b""
    """Whole header lines, each ended by CRLF, for the API alone. A visitor cannot send any that begins with
    `X-Codehub-`: those are always removed."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A ready answer, head and body with the right length. The doorkeeper knows about HEAD; whether the connection can
    be kept is known to the data path, which closes it where a body of the request has still to come."""

    answer: bytes
    closes: bool = False


Decision = Forward | ToApi | Reply


class Watcher(Protocol):
    """Sees the bytes of one tunnel, after they were sent on. What it does must be quick; if it raises, it is dropped
    and the tunnel goes on."""

    def from_visitor(self, data: bytes) -> None: ...
    def from_workspace(self, data: bytes) -> None: ...
    def ended(self) -> None: ...


class Doorkeeper(Protocol):
    def decide(self, asked: Asked) -> Decision | None:
        """At once, from what is known. None: it has to be found out."""
        ...

    async def find_out(self, asked: Asked) -> Decision:
        """Ask whoever knows. Nothing is read from the visitor meanwhile; if they leave, this is cancelled."""
        ...

    def nobody_answers(self, upstream: Upstream) -> None:
        """A connection could not be made. The decision is then asked for once more, by `find_out`."""
        ...

    def watcher(self, asked: Asked, forward: Forward) -> Watcher | None:
        """For a tunnel that has just opened; None where nobody wants to see it."""
        ...


class Why(Enum):
    """Why a visit is cut, told to WebSockets as a close code."""

    RESTART = 1012  # come back at once: another process is there already
    ROUTE_CHANGED = 1001  # the workspace went away, or lives elsewhere now
    NO_LONGER_ALLOWED = 1008


class Visits(Protocol):
    """What is under way through this process: requests and tunnels that were forwarded to workspaces."""

    def under_way(self) -> Iterable[Forward]:
        """Of each the decision that let it in, tunnels included."""
        ...

    def cut(self, why: Why, concerns: Callable[[Forward], bool]) -> int:
        """End those that it concerns, now: a WebSocket with its close code, a request by closing its connection.
        Returns how many."""
        ...
