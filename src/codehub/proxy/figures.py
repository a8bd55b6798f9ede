"""What one process of the front door tells about itself, on a socket of its own."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector

from codehub.proxy.counts import Counts
from codehub.proxy.doorkeeper import Asked, Forward, Reply, Upstream, Watcher
from codehub.proxy.everybody import Everybody
from codehub.proxy.front_door import FrontDoor
from codehub.proxy.pool import Pool

_ANSWER = b"HTTP/1.1 %b\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n\r\n%b"


class ProxyReadings:
    def __init__(self, counts: Counts, everybody: Everybody, pool: Pool) -> None:
        self._counts = counts
        self._everybody = everybody
        self._pool = pool

    def collect(self) -> Iterable[Metric]:
        counts = self._counts
        yield _by("codehub_proxy_requests", "Requests answered, by status.", "status", counts.statuses.items())
        refusals = [(refusal.name.lower(), number) for refusal, number in counts.refusals.items()]
        yield _by("codehub_proxy_refusals", "Requests that the front door itself refused.", "reason", refusals)
        yield _durations(counts)
        for name, help_text, number in (
            ("connections", "Connections accepted.", counts.connections),
            ("upstream_connections", "Connections made to workspaces and the API.", counts.connected),
            ("retries", "Requests sent again on a new connection.", counts.retries),
            ("tunnels", "WebSockets opened.", counts.tunnels),
            ("cut", "Visits cut because their right or their route ended.", counts.cut),
        ):
            yield CounterMetricFamily(f"codehub_proxy_{name}", help_text, value=number)
        for name, help_text, number in (
            ("connections_open", "Connections of visitors, WebSockets left out.", len(self._everybody.visitors)),
            ("tunnels_open", "WebSockets that are open.", len(self._everybody.tunnels)),
            ("upstream_connections_idle", "Connections that wait for a request.", len(self._pool)),
        ):
            yield GaugeMetricFamily(f"codehub_proxy_{name}", help_text, value=number)


def _by(name: str, help_text: str, label: str, values: Iterable[tuple[object, int]]) -> Metric:
    family = CounterMetricFamily(name, help_text, labels=[label])
    for value, number in values:
        family.add_metric([str(value)], number)
    return family


def _durations(counts: Counts) -> Metric:
    total, buckets = 0, []
    for power, number in enumerate(counts.durations[:-1]):
        total += number
        buckets.append((str((1 << power) / 1e6), float(total)))
    buckets.append(("+Inf", float(total + counts.durations[-1])))
    name, help_text = "codehub_proxy_request_seconds", "From the last byte of a head to the end of its answer."
    family = HistogramMetricFamily(name, help_text)
    family.add_metric([], buckets, counts.seconds)
    return family


class OwnDoor:
    """The doorkeeper of the process's own socket: whoever may open it may know all of this."""

    def __init__(self, door: FrontDoor, replica: str) -> None:
        """`replica` is what the process is called among those of the installation."""
        self._door = door
        self._replica = replica
        self._registry = CollectorRegistry()
        self._registry.register(ProxyReadings(door.counts, door.everybody, door.pool))
        ProcessCollector(registry=self._registry)

    def decide(self, asked: Asked) -> Reply:
        if asked.target.partition(b"?")[0] == b"/metrics":
            return _reply(b"200 OK", generate_latest(self))
        if asked.target == b"/healthz":
            return _reply(b"200 OK", b"draining\n" if self._door.is_draining else b"ok\n")
        return _reply(b"404 Not Found", b"/metrics and /healthz are here.\n")

    def collect(self) -> Iterable[Metric]:
        """Each value with the process that it comes from."""
        for family in self._registry.collect():
            family.samples = [
                sample._replace(labels={**sample.labels, "replica": self._replica}) for sample in family.samples
            ]
            yield family

    async def find_out(self, asked: Asked) -> Reply:
        return self.decide(asked)

    def nobody_answers(self, upstream: Upstream) -> None:
        """Nothing is passed on from here."""

    def watcher(self, _asked: Asked, _forward: Forward) -> Watcher | None:
        return None


def _reply(status: bytes, body: bytes) -> Reply:
    return Reply(_ANSWER % (status, len(body), body))
