"""Whether this process is alive (`/healthz`) and whether it can do its work (`/readyz`)."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum

import structlog
from fastapi import APIRouter
from fastapi.encoders import jsonable_encoder
from fastapi.responses import JSONResponse

from codehub import clock
from codehub.coordinators.role import CoordinatorRole
from codehub.telemetry.health import Check
from codehub.web.siblings import DOORS, REPLICAS, Siblings

log = structlog.get_logger(__name__)

MAX_AGE_SECONDS = 1.0
RETRY_AFTER_SECONDS = 2

# Without the database nothing can be answered. Without the others work goes on, slower or later: to take every replica
# out of service for them would turn an inconvenience into an outage.
REQUIRED = frozenset({"database"})


class Status(StrEnum):
    READY = "ready"
    DEGRADED = "degraded"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True)
class Report:
    """The state of each part at one moment, and which of the replicas of this address answer."""

    checks: tuple[Check, ...]
    replicas: Mapping[str, bool] = field(default_factory=dict)

    @property
    def status(self) -> Status:
        faulty = {check.name for check in self.checks if not check.ok}
        if faulty & REQUIRED:
            return Status.UNAVAILABLE
        return Status.DEGRADED if faulty else Status.READY


class Readiness:
    """Asks each part, at most once a second however many ask: nobody can load the database through `/readyz`."""

    def __init__(self, checks: Sequence[Callable[[], Awaitable[Check]]], siblings: Siblings) -> None:
        self.siblings = siblings
        self._checks = checks
        self._asking = asyncio.Lock()
        self._report = Report(())
        self._fresh_until = 0.0

    async def report(self) -> Report:
        async with self._asking:
            if time.monotonic() >= self._fresh_until:
                before = self._report
                checks = asyncio.gather(*(check() for check in self._checks))
                found, others = await asyncio.gather(checks, self.siblings.answers("/healthz", among=(REPLICAS, DOORS)))
                answering = {name: answer is not None for name, answer in others.items()}
                self._report = Report(tuple(found), {self.siblings.name: True, **answering})
                self._fresh_until = time.monotonic() + MAX_AGE_SECONDS
                _log_changes(before, self._report)
            return self._report


def _log_changes(before: Report, after: Report) -> None:
    """Once per change, not once per look."""
    was_ok = {check.name: check.ok for check in before.checks}
    for check in after.checks:
        if check.ok and not was_ok.get(check.name, True):
            log.info("part answers again", part=check.name)
        elif not check.ok and was_ok.get(check.name, True):
            log.warning("part cannot be used", part=check.name, detail=check.detail, remedy=check.remedy)


def routes(readiness: Readiness) -> APIRouter:
    router = APIRouter(include_in_schema=False)  # for load balancers and operators, no part of the API
    no_store = {"Cache-Control": "no-store"}

    @router.api_route("/healthz", methods=["GET", "HEAD"])
    async def healthz() -> JSONResponse:
        return JSONResponse({"status": "alive"}, headers=no_store)

    @router.api_route("/readyz", methods=["GET", "HEAD"])
    async def readyz() -> JSONResponse:
        report = await readiness.report()
        body = {
            "status": report.status,
            "checks": {check.name: _shown(check) for check in report.checks},
            "replica": readiness.siblings.name,
            "replicas": report.replicas,
        }
        if report.status is Status.UNAVAILABLE:
            return JSONResponse(body, 503, headers={**no_store, "Retry-After": str(RETRY_AFTER_SECONDS)})
        return JSONResponse(body, headers=no_store)

    return router


def coordinator_routes(role: CoordinatorRole) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    began = clock.elapsed()

    @router.get("/health/coordinator")
    async def coordinator() -> JSONResponse:
        """Who leads, in this process. The whole installation is in `system_locks`."""
        body = {
            "node_id": role.settings.coordinator.node_id,
            "uptime_seconds": round(clock.elapsed() - began, 3),
            "is_leader": any(report.is_leader for report in role.reports.values()),
            "coordinators": {name: asdict(report) for name, report in role.reports.items()},
        }
        return JSONResponse(jsonable_encoder(body), headers={"Cache-Control": "no-store"})

    return router


def _shown(check: Check) -> dict[str, object]:
    return {key: value for key, value in asdict(check).items() if key not in {"name", "lasting"}}
