"""`GET /metrics` for Prometheus: one answer for all processes of this address, whichever of them is asked."""

import asyncio
import hmac
from collections.abc import Iterable, Iterator

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr
from sqlalchemy.pool import QueuePool

from codehub.clock import elapsed
from codehub.model.accounts import Scope
from codehub.store.away import FOREIGN
from codehub.store.phases import count_phases
from codehub.web.callers import Callers
from codehub.web.parts import Parts, parts_of
from codehub.web.problems import ScopeMissing
from codehub.web.siblings import DOORS, REPLICAS, Siblings

PHASES_SECONDS = 10.0
"""For how long the count of workspaces is not asked for again, however many scrape."""
ALONE = "this"


def routes(registry: CollectorRegistry, siblings: Siblings, token: SecretStr | None) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    phases = _Phases()

    @router.get("/metrics")
    async def metrics(request: Request, replica: str = "") -> Response:
        """Of all replicas, or with `?replica=this` of the one that answers. For administrators, and for whoever has
        the metrics token: it tells how much is going on, and how it fails."""
        await _require_right(request, token)
        families = list(_labelled(registry.collect(), siblings.name))
        if replica != ALONE:
            families = await _with_others(families, siblings, request)
            families += await phases.counted(parts_of(request))
        return Response(generate_latest(_Gathered(families)), media_type=CONTENT_TYPE_LATEST)

    return router


def pool_use(parts: Parts) -> dict[str, tuple[int, int]]:
    """Of each way to the database, how many connections are used and how many are idle."""
    reads, writes = parts.reads.pool, parts.writes.pool
    idle = reads.get_idle_size()
    used = {"reads": (reads.get_size() - idle, idle)}
    return used | ({"writes": (writes.checkedout(), writes.checkedin())} if isinstance(writes, QueuePool) else {})


async def _require_right(request: Request, token: SecretStr | None) -> None:
    given = request.headers.get("authorization", "").encode()
    if token is not None and hmac.compare_digest(given, f"Bearer {token.get_secret_value()}".encode()):
        return
    callers: Callers = request.app.state.callers
    caller = await callers.identify(request)
    if Scope.ADMIN not in caller.scopes or not caller.administers:
        raise ScopeMissing("Only an administrator may do this.")


async def _with_others(own: list[Metric], siblings: Siblings, request: Request) -> list[Metric]:
    """The others are asked with what this request carries, and judge it themselves."""
    carried = {name: request.headers[name] for name in ("authorization", "cookie") if name in request.headers}
    answers = await siblings.answers(f"/metrics?replica={ALONE}", carried, (REPLICAS, DOORS))
    answering = GaugeMetricFamily(
        "codehub_replica_answers", "1 for each replica of this address that answers.", labels=["replica"]
    )
    answering.add_metric([siblings.name], 1)
    gathered = {family.name: family for family in own}
    for name, text in answers.items():
        answering.add_metric([name], text is not None)
        for family in text_string_to_metric_families(text or ""):
            gathered.setdefault(family.name, family)
            if gathered[family.name] is not family:
                gathered[family.name].samples.extend(family.samples)
    return [*gathered.values(), answering]


def _labelled(families: Iterable[Metric], replica: str) -> Iterator[Metric]:
    """Each value with the replica that it comes from. When a series was made is left out: it doubles their number."""
    for family in families:
        kept = [sample for sample in family.samples if not sample.name.endswith("_created")]
        family.samples = [sample._replace(labels={**sample.labels, "replica": replica}) for sample in kept]
        yield family


class _Gathered:
    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


class _Phases:
    """Of the whole installation, so told once and without a replica."""

    def __init__(self) -> None:
        self._asking = asyncio.Lock()
        self._fresh_until = 0.0
        self._families: list[Metric] = []

    async def counted(self, parts: Parts) -> list[Metric]:
        """Nothing while the database is away."""
        async with self._asking:
            if elapsed() >= self._fresh_until:
                self._fresh_until = elapsed() + PHASES_SECONDS
                self._families = []
                try:
                    counts = await count_phases(parts.reads)
                except FOREIGN:
                    return []
                workspaces = GaugeMetricFamily("codehub_workspaces", "Workspaces in each phase.", labels=["phase"])
                for phase, number in counts.items():
                    workspaces.add_metric([phase], number)
                self._families = [workspaces]
            return self._families
