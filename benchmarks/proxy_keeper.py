"""The front door as a candidate of `benchmarks.proxy`: the real data path, decisions from tables that are in memory, as
they are for everybody who has been seen within the last second.

Run as a process of its own: `python -m benchmarks.proxy_keeper PORT TABLES`."""

import json
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID, uuid4

from codehub.model.conditions import Endpoint
from codehub.proxy.doorkeeper import Asked, Decision, Doorkeeper, Forward, Reply, Upstream, Visits, Watcher
from codehub.proxy.limits import Limits
from codehub.proxy.server import Serving, run

COOKIE = b"codehub-workspace"
_REFUSED = Reply(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")


@dataclass(frozen=True, slots=True)
class Place:
    workspace_id: UUID
    owner: str
    upstream: Upstream


@dataclass
class Tables:
    """Who may go where. Each visit is noted as activity of its workspace."""

    places: dict[bytes, Place]
    sessions: dict[bytes, tuple[UUID, str]]
    activity: dict[bytes, bool] = field(default_factory=dict)

    def decide(self, asked: Asked) -> Decision:
        place = self.places.get(asked.host)
        for name, value in asked.cookies:
            if name == COOKIE and place is not None:
                session = self.sessions.get(value)
                if session is not None and session[1] == place.owner:
                    self.activity[asked.host] = True
                    return Forward(place.upstream, place.workspace_id, session[0], asked.target)
        return _REFUSED

    async def find_out(self, asked: Asked) -> Decision:
        return self.decide(asked)

    def nobody_answers(self, upstream: Upstream) -> None:
        sys.exit(f"nobody answers at {upstream.endpoint}")

    def watcher(self, asked: Asked, _forward: Forward) -> Watcher:
        return Noting(self.activity, asked.host)


@dataclass(slots=True)
class Noting:
    activity: dict[bytes, bool]
    place: bytes

    def from_visitor(self, _data: bytes) -> None:
        self.activity[self.place] = True

    def from_workspace(self, _data: bytes) -> None:
        self.activity[self.place] = True

    def ended(self) -> None:
        """Nothing is kept of it."""


def read_tables(path: Path) -> Tables:
    """From the document that `benchmarks.proxy` writes for all candidates."""
    document = json.loads(path.read_text())
    places = {
        host.encode(): Place(uuid4(), owner, Upstream(Endpoint(host, "127.0.0.1", port)))
        for host, (owner, port) in document["places"].items()
    }
    return Tables(places, {secret.encode(): (uuid4(), owner) for secret, owner in document["sessions"].items()})


def main() -> None:
    tables = read_tables(Path(sys.argv[2]))

    @asynccontextmanager
    async def keeping(_visits: Visits) -> AsyncIterator[Doorkeeper]:
        yield tables

    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=4096)
    listener.setblocking(False)
    run(Serving([listener], limits=Limits(connections_per_address=100_000)), keeping)


if __name__ == "__main__":
    main()
