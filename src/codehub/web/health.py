"""Whether this process is alive (`/healthz`) and whether it can do its work (`/readyz`)."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from codehub.telemetry.health import Check

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
    """The state of each part at one moment."""

    checks: tuple[Check, ...]

    @property
    def status(self) -> Status:
        faulty = {check.name for check in self.checks if not check.ok}
        if faulty & REQUIRED:
            return Status.UNAVAILABLE
        return Status.DEGRADED if faulty else Status.READY


class Readiness:
    """Asks each part, at most once a second however many ask: nobody can load the database through `/readyz`."""

    def __init__(self, checks: Sequence[Callable[[], Awaitable[Check]]]) -> None:
        self._checks = checks
        self._asking = asyncio.Lock()
        self._report = Report(())
        self._fresh_until = 0.0

    async def report(self) -> Report:
        async with self._asking:
            if time.monotonic() >= self._fresh_until:
                self._report = Report(tuple(await asyncio.gather(*(check() for check in self._checks))))
                self._fresh_until = time.monotonic() + MAX_AGE_SECONDS
            return self._report


def routes(readiness: Readiness) -> APIRouter:
    router = APIRouter(tags=["health"])
    no_store = {"Cache-Control": "no-store"}

    @router.api_route("/healthz", methods=["GET", "HEAD"], summary="Whether this process is alive")
    async def healthz() -> JSONResponse:
        return JSONResponse({"status": "alive"}, headers=no_store)

    @router.api_route(
        "/readyz", methods=["GET", "HEAD"], summary="Whether each part can be used, and how fast it answers"
    )
    async def readyz() -> JSONResponse:
        report = await readiness.report()
        body = {"status": report.status, "checks": {check.name: _shown(check) for check in report.checks}}
        if report.status is Status.UNAVAILABLE:
            return JSONResponse(body, 503, headers={**no_store, "Retry-After": str(RETRY_AFTER_SECONDS)})
        return JSONResponse(body, headers=no_store)

    return router


def _shown(check: Check) -> dict[str, object]:
    return {key: value for key, value in asdict(check).items() if key not in {"name", "lasting"}}
