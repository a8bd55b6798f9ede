"""Connections to upstreams that wait for the next request. The one used last is used next, so that those which are not
needed any more grow old and go."""

from typing import TYPE_CHECKING

from codehub.proxy.doorkeeper import Upstream

if TYPE_CHECKING:
    from codehub.proxy.connection import Connection


class Pool:
    def __init__(self, kept_seconds: float, kept_connections: int) -> None:
        self._kept_seconds = kept_seconds
        self._kept_connections = kept_connections
        self._idle: dict[Upstream, list[Connection]] = {}

    def take(self, upstream: Upstream) -> "Connection | None":
        idle = self._idle.get(upstream)
        while idle and not upstream.is_over:
            connection = idle.pop()
            if not connection.transport.is_closing():
                return connection
        return None

    def give_back(self, connection: "Connection", now: float) -> None:
        """Keep it for the next request, unless its upstream is over or there are enough."""
        upstream = connection.upstream
        idle = self._idle.get(upstream)
        if idle is None:
            idle = self._idle[upstream] = []
        if upstream.is_over or len(idle) >= self._kept_connections:
            connection.drop()
            return
        connection.idle_since = now
        idle.append(connection)

    def forget(self, connection: "Connection") -> None:
        """It is gone."""
        idle = self._idle.get(connection.upstream)
        if idle is not None and connection in idle:
            idle.remove(connection)

    def sweep(self, now: float) -> None:
        """Drop what was idle for too long, and all that leads to what is over. The oldest stand first."""
        for upstream, idle in list(self._idle.items()):
            old = sum(upstream.is_over or each.idle_since < now - self._kept_seconds for each in idle)
            dropped = idle[:old]
            del idle[:old]
            for each in dropped:
                each.drop()
            if not idle:
                del self._idle[upstream]

    def close(self) -> None:
        for idle in list(self._idle.values()):
            for connection in list(idle):
                connection.drop()
        self._idle.clear()

    def __len__(self) -> int:
        return sum(map(len, self._idle.values()))
