"""Which address the next container gets. None is given twice within an hour, so that a route which somebody still holds
open can never lead to another workspace.

The engine gives the lowest free address, which is the one just freed. Here a hand goes round the whole range once an
hour, by the time of day: where it stands can be told without the database, after a restart and on another replica."""

from datetime import datetime
from ipaddress import IPv4Address, IPv4Network

ROUND_SECONDS = 3600
RESERVED = 16
"""At the lower end: the network, its gateway, and room for what an operator attaches by hand."""


class Addresses:
    """The addresses of one network. More starts than a range holds addresses per hour make the hand run ahead of the
    time; then the time of each address is what keeps it from being given again too early."""

    def __init__(self, subnet: IPv4Network) -> None:
        self._first = int(subnet.network_address) + RESERVED
        self._count = subnet.num_addresses - RESERVED - 1  # the last one is for broadcasts
        self._hand = -1
        self._held: set[int] = set()
        self._given: dict[int, datetime] = {}

    def hold(self, address: str) -> None:
        """A container has it now, whoever gave it."""
        self._held.add(int(IPv4Address(address)) - self._first)

    def release(self, address: str, now: datetime) -> None:
        """Its container is gone; the hour begins."""
        place = int(IPv4Address(address)) - self._first
        self._held.discard(place)
        self._given[place] = now

    def take(self, now: datetime) -> str | None:
        """An address that nobody holds and nobody was given within the hour; None where there is none."""
        self._given = {place: when for place, when in self._given.items() if _recent(when, now)}
        by_time = int(now.timestamp() % ROUND_SECONDS / ROUND_SECONDS * self._count)
        ahead = (self._hand + 1 - by_time) % self._count < self._count // 2
        start = self._hand + 1 if self._hand >= 0 and ahead else by_time
        for step in range(self._count):
            place = (start + step) % self._count
            if place not in self._held and place not in self._given:
                self._hand = place
                self._given[place] = now
                return str(IPv4Address(self._first + place))
        return None


def _recent(when: datetime, now: datetime) -> bool:
    return (now - when).total_seconds() < ROUND_SECONDS
