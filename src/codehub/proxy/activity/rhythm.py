"""What recurs like clockwork is a machine's: the rule for whatever is not known by name."""

from collections.abc import Hashable

BURST_SECONDS = 1.0
"""What comes within this of its first is one occurrence: a timer may well send three messages at once."""
BEATS = 3
"""So many equal distances, one after the other, are a clock."""
TOLERANCE = 0.2
"""Of the distance. Browsers let the timers of a tab in the background come up to a second late."""
LEAST_TOLERANCE_SECONDS = 0.5
MOST_KEYS = 64


class Rhythm:
    """Remembers when things occurred, by what they look like, in bounded memory."""

    __slots__ = ("_heard",)

    def __init__(self) -> None:
        self._heard: dict[Hashable, tuple[float, float, int]] = {}
        """When the last burst began, how far from the one before, and how many distances in a row were alike."""

    def is_clockwork(self, what: Hashable, now: float) -> bool:
        """Whether this occurrence is one beat of a clock. The first ones never are: a clock has to show itself."""
        heard = self._heard.get(what)
        if heard is None:
            if len(self._heard) >= MOST_KEYS:
                del self._heard[next(iter(self._heard))]
            self._heard[what] = (now, 0.0, 0)
            return False
        began, before, alike = heard
        distance = now - began
        if 0 <= distance < BURST_SECONDS:
            return alike >= BEATS
        is_alike = abs(distance - before) <= max(TOLERANCE * before, LEAST_TOLERANCE_SECONDS)
        alike = min(alike + 1, BEATS) if is_alike else 1
        self._heard[what] = (now, distance, alike)
        return alike >= BEATS
