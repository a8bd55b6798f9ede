"""The data path of one process: what all its connections share, and the time."""

import asyncio
from typing import TYPE_CHECKING

import structlog

from codehub.clock import elapsed
from codehub.proxy.counts import Counts
from codehub.proxy.doorkeeper import Asked, Doorkeeper, Forward, Watcher
from codehub.proxy.everybody import Everybody
from codehub.proxy.limits import Limits
from codehub.proxy.pool import Pool
from codehub.proxy.tunnel import Tunnel
from codehub.proxy.visitor import Visitor

if TYPE_CHECKING:
    from codehub.proxy.connection import Connection
    from codehub.proxy.refusals import Refusal

log = structlog.get_logger(__name__)

LINES_PER_SECOND = 10
"""So many refusals are logged; of the others only their number."""


class FrontDoor:
    """Makes a `Visitor` of each connection. Whoever runs it calls `tick` ten times a second and `sweep` once."""

    def __init__(
        self,
        doorkeeper: Doorkeeper,
        everybody: Everybody,
        tasks: asyncio.TaskGroup,
        limits: Limits,
        scheme: bytes = b"http",
    ) -> None:
        """`scheme` is what visitors see on connections without TLS: https, where somebody else terminates it."""
        self.doorkeeper = doorkeeper
        self.everybody = everybody
        self.tasks = tasks
        self.limits = limits
        self.scheme = scheme
        self.loop = asyncio.get_running_loop()
        self.pool = Pool(limits.kept_seconds, limits.kept_connections)
        self.counts = Counts()
        self.is_draining = False
        self.now = elapsed()
        """As of the last tick: deadlines need no better clock, and a request none of its own."""
        self._logged = 0
        self._unlogged = 0

    def __call__(self) -> Visitor:
        return Visitor(self)

    def tick(self) -> None:
        self.now = elapsed()

    def sweep(self) -> None:
        self.everybody.expire(self.now)
        self.pool.sweep(self.now)
        if self._unlogged:
            log.info("refused others", number=self._unlogged)
        self._logged = self._unlogged = 0

    def open_tunnel(self, visitor: Visitor, connection: "Connection", lines: bytes, data: bytes) -> None:
        """The upgrade is agreed on. What each side has sent by now goes first."""
        exchange, forward = visitor.exchange, visitor.forward
        assert exchange is not None  # noqa: S101 (only a forwarded upgrade is answered by 101)
        assert forward is not None  # noqa: S101
        early = visitor.hand_over()
        visitor.transport.write(lines + b"\r\n")
        watcher = self._watcher(exchange.asked, forward)
        tunnel = Tunnel(self, forward, visitor.peer, visitor.transport, connection.transport, watcher)
        self.everybody.became(visitor, tunnel)
        self.counts.tunnels += 1
        self.counts.statuses[101] += 1
        tunnel.begin(early, data, has_visitor_ended=visitor.is_half_closed)

    def _watcher(self, asked: Asked, forward: Forward) -> Watcher | None:
        try:
            return self.doorkeeper.watcher(asked, forward)
        except Exception:  # a bulkhead: nobody watches it, and it opens all the same
            log.exception("a watcher failed")
            return None

    def refused(self, refusal: "Refusal", peer: str) -> None:
        self.counts.refusals[refusal] += 1
        if self._logged < LINES_PER_SECOND:
            self._logged += 1
            log.info("refused", reason=refusal.name.lower(), status=refusal.status, peer=peer)
        else:
            self._unlogged += 1
