"""What codehub counts and measures. docs/metrics.md says what each means; a test holds the two together.

Everything is registered with the registry that is passed in: a process has one, a test as many as it likes."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.process_collector import ProcessCollector

REQUEST_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
OPERATION_SECONDS = (0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800)


class Metrics:
    """The values that are counted where they happen. What is only looked at when somebody asks (leaders, pools,
    phases) is in `readings.py`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        self.requests = Counter(
            "codehub_http_requests",
            "Requests answered, by route, method and status.",
            ["route", "method", "status"],
            registry=registry,
        )
        self.request_seconds = Histogram(
            "codehub_http_request_seconds",
            "How long answers took, streams left out.",
            ["route", "method"],
            buckets=REQUEST_SECONDS,
            registry=registry,
        )
        self.requests_in_flight = Gauge(
            "codehub_http_requests_in_flight", "Requests that are being answered, streams included.", registry=registry
        )
        self.logins = Counter("codehub_logins", "Attempts to log in, by outcome.", ["outcome"], registry=registry)
        self.streams_open = Gauge(
            "codehub_streams_open", "Streams of events and logs that are open.", registry=registry
        )
        self.stream_events = Counter(
            "codehub_stream_events", "Events sent on streams, heartbeats left out.", registry=registry
        )
        self.streams_cut = Counter(
            "codehub_streams_cut", "Streams ended because their reader was too slow.", registry=registry
        )
        self.operations_begun = Counter(
            "codehub_operations_begun", "Operations claimed by the controller.", ["operation"], registry=registry
        )
        self.operations_ended = Counter(
            "codehub_operations_ended",
            "Operations that are over, by outcome: done, withdrawn or given_up.",
            ["operation", "outcome"],
            registry=registry,
        )
        self.attempts_failed = Counter(
            "codehub_operation_attempts_failed",
            "Attempts that failed, by reason, the last one before giving up included.",
            ["operation", "reason"],
            registry=registry,
        )
        self.operation_seconds = Histogram(
            "codehub_operation_seconds",
            "From claim to end of operations that were done, retries included.",
            ["operation"],
            buckets=OPERATION_SECONDS,
            registry=registry,
        )
        self.gc_rounds = Counter(
            "codehub_gc_rounds",
            "Rounds of the collector, by outcome: done, halted or failed.",
            ["outcome"],
            registry=registry,
        )
        self.gc_deleted = Counter(
            "codehub_gc_deleted", "What the collector has deleted, by kind.", ["kind"], registry=registry
        )
        self.gc_waits = Gauge(
            "codehub_gc_waits_for_administrator",
            "1 while the collector deletes nothing until an administrator confirms; told by the leader.",
            registry=registry,
        )
        self.idle_wishes = Counter(
            "codehub_idle_wishes", "Workspaces put to sleep because nobody used them.", ["wish"], registry=registry
        )
        ProcessCollector(registry=registry)


def fresh() -> Metrics:
    """Metrics with a registry of their own."""
    return Metrics(CollectorRegistry())
