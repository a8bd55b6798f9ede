"""What one process of the front door has done so far. Counted in plain numbers: this happens with every request."""

from collections import Counter
from dataclasses import dataclass, field

from codehub.proxy.refusals import Refusal

BUCKETS = 27
"""Durations by powers of two of a microsecond: up to 64 s, and the rest."""


@dataclass(slots=True)
class Counts:
    connections: int = 0
    requests: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    durations: list[int] = field(default_factory=lambda: [0] * (BUCKETS + 1))
    seconds: float = 0.0
    refusals: Counter[Refusal] = field(default_factory=Counter)
    retries: int = 0
    connected: int = 0
    tunnels: int = 0
    cut: int = 0

    def answered(self, status: int, seconds: float) -> None:
        self.requests += 1
        self.statuses[status] += 1
        self.seconds += seconds
        bucket = int(seconds * 1e6).bit_length()
        self.durations[min(BUCKETS, bucket)] += 1
