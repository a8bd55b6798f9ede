"""What belongs to this process, not to the installation: its figures, its traces, its end."""

from dataclasses import dataclass, field
from pathlib import Path

from codehub.telemetry.metrics import Metrics, fresh
from codehub.telemetry.traces import Traces
from codehub.web.drain import Drain
from codehub.web.siblings import Siblings


@dataclass(frozen=True)
class Process:
    metrics: Metrics = field(default_factory=fresh)
    traces: Traces = field(default_factory=Traces)
    drain: Drain = field(default_factory=Drain)
    own_socket: Path | None = None
    """Where this replica alone is reached, beside the sockets of its siblings."""

    @property
    def siblings(self) -> Siblings:
        return Siblings(self.own_socket)
