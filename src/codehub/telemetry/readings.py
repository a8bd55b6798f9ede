"""Values that are looked at when somebody asks for the metrics: leaders, breakers, connections."""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric


class Term(Protocol):
    """What is told of one coordinator in this process."""

    is_leader: bool
    epoch: int | None
    terms: int
    passes: int
    pass_seconds: float
    errors: int
    services: dict[str, bool]


class CoordinatorReadings:
    def __init__(self, reports: Callable[[], Mapping[str, Term]]) -> None:
        self._reports = reports

    def collect(self) -> Iterable[Metric]:
        leads = GaugeMetricFamily("codehub_coordinator_leads", "1 where this process leads.", labels=["coordinator"])
        epoch = GaugeMetricFamily(
            "codehub_coordinator_epoch", "The epoch of the last term led here.", labels=["coordinator"]
        )
        terms = CounterMetricFamily(
            "codehub_coordinator_terms", "How often this process came to lead.", labels=["coordinator"]
        )
        passes = CounterMetricFamily("codehub_coordinator_passes", "Passes that went well.", labels=["coordinator"])
        seconds = CounterMetricFamily(
            "codehub_coordinator_pass_seconds", "Time spent in passes.", labels=["coordinator"]
        )
        errors = CounterMetricFamily(
            "codehub_coordinator_errors", "Passes and terms that ended with an error.", labels=["coordinator"]
        )
        available = GaugeMetricFamily(
            "codehub_service_available",
            "1 while what workspaces need answers, 0 while its breaker is open; told by the leader.",
            labels=["service"],
        )
        for name, report in self._reports().items():
            leads.add_metric([name], report.is_leader)
            epoch.add_metric([name], report.epoch or 0)
            terms.add_metric([name], report.terms)
            passes.add_metric([name], report.passes)
            seconds.add_metric([name], report.pass_seconds)
            errors.add_metric([name], report.errors)
        for service, answers in _services(self._reports().values()).items():
            available.add_metric([service], answers)
        return leads, epoch, terms, passes, seconds, errors, available


def _services(reports: Iterable[Term]) -> dict[str, bool]:
    """As those who lead here see them: several where the work is divided, and then the worst counts."""
    seen: dict[str, bool] = {}
    for report in reports:
        for service, answers in report.services.items() if report.is_leader else ():
            seen[service] = answers and seen.get(service, True)
    return seen


class DatabaseReadings:
    def __init__(self, pools: Callable[[], Mapping[str, tuple[int, int]]]) -> None:
        """`pools` tells of each how many connections are used, and how many are idle."""
        self._pools = pools

    def collect(self) -> Iterable[Metric]:
        connections = GaugeMetricFamily(
            "codehub_database_connections", "Connections to PostgreSQL, used and idle.", labels=["pool", "state"]
        )
        for name, (used, idle) in self._pools().items():
            connections.add_metric([name, "used"], used)
            connections.add_metric([name, "idle"], idle)
        return (connections,)
