"""Everybody who is connected, what they were let in to, and how many come from one address."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from codehub.proxy.addresses import TrustedProxies
from codehub.proxy.doorkeeper import Forward, Why

if TYPE_CHECKING:
    from codehub.proxy.presence import Presence
    from codehub.proxy.tunnel import Tunnel


class Everybody:
    """The visits of one process (`Visits`)."""

    def __init__(self, per_address: int, trusted: TrustedProxies) -> None:
        self._per_address = per_address
        self.trusted = trusted
        self.visitors: set[Presence] = set()
        self.tunnels: set[Tunnel] = set()
        self._addresses: Counter[str] = Counter()

    def arrived(self, visitor: "Presence") -> bool:
        """Whether there is room for one more from there. A trusted proxy, or whoever is let to a unix socket, brings
        everybody."""
        self.visitors.add(visitor)
        self._addresses[visitor.peer] += 1
        is_crowd = self._addresses[visitor.peer] > self._per_address
        return not is_crowd or not visitor.peer or self.trusted.trusts(visitor.peer)

    def left(self, visitor: "Presence") -> None:
        if visitor in self.visitors:
            self.visitors.remove(visitor)
            self._forget(visitor.peer)

    def became(self, visitor: "Presence", tunnel: "Tunnel") -> None:
        self.visitors.discard(visitor)
        self.tunnels.add(tunnel)

    def ended(self, tunnel: "Tunnel") -> None:
        self.tunnels.discard(tunnel)
        self._forget(tunnel.peer)

    def _forget(self, peer: str) -> None:
        self._addresses[peer] -= 1
        if self._addresses[peer] <= 0:
            del self._addresses[peer]

    def under_way(self) -> Iterator[Forward]:
        for visitor in self.visitors:
            if (forward := visitor.forward) is not None:
                yield forward
        for tunnel in self.tunnels:
            yield tunnel.forward

    def cut(self, why: Why, concerns: Callable[[Forward], bool]) -> int:
        visitors = [each for each in self.visitors if each.forward is not None and concerns(each.forward)]
        tunnels = [each for each in self.tunnels if concerns(each.forward)]
        for visitor in visitors:
            visitor.cut()
        for tunnel in tunnels:
            tunnel.close(why)
        return len(visitors) + len(tunnels)

    def expire(self, now: float) -> None:
        """End what has taken too long."""
        for visitor in [each for each in self.visitors if each.deadline < now]:
            visitor.expire()
        for tunnel in [each for each in self.tunnels if each.deadline < now]:
            tunnel.abort()

    def abort(self) -> None:
        for visitor in list(self.visitors):
            visitor.abort()
        for tunnel in list(self.tunnels):
            tunnel.abort()

    @property
    def is_nobody(self) -> bool:
        return not self.visitors and not self.tunnels
