"""Counts and times requests, and says what went wrong with one. Never by its path, which anybody can invent."""

import logging
import re
from collections.abc import Iterable
from functools import cache

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codehub.clock import elapsed
from codehub.telemetry.metrics import Metrics
from codehub.telemetry.traces import Traces

log = structlog.get_logger(__name__)
_level = logging.getLogger(__name__)  # asked first: a line that nobody wants costs as much as the rest of this

SLOW_SECONDS = 1.0
QUIET_SECONDS = 1.0
"""At most one line about slow requests in this time: when everything is slow, one says it."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
LOGIN_ROUTES = frozenset({"/api/v1/auth/login", "/login"})
LOGIN_OUTCOMES = {200: "let in", 303: "let in", 401: "refused", 403: "refused", 429: "too many"}
HEAD = 100
"""An event says within so many bytes what it is; one is sent at a time."""
_EVENT = re.compile(rb"^event: (?!heartbeat)", re.MULTILINE)


class Measured:
    """Outermost, so that an error of the application itself is seen too; it ends here, told once."""

    def __init__(self, app: ASGIApp, metrics: Metrics, traces: Traces) -> None:
        self.app = app
        self.metrics = metrics
        self.traces = traces
        self._quiet_until = 0.0
        # There are few of each, as many as routes, and looking them up anew would cost more than counting.
        self._counter = cache(lambda route, method, status: metrics.requests.labels(route, method, str(status)))
        self._clock = cache(metrics.request_seconds.labels)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        answer = _Answer(self.metrics, send)
        began = elapsed()
        self.metrics.requests_in_flight.inc()
        with self.traces.request(scope) as span:
            try:
                await self.app(scope, receive, answer.send)
            except Exception:
                answer.status = 500
                log.exception("request failed", **described(scope, 500))
            finally:
                self.metrics.requests_in_flight.dec()
                answer.end()
                span.answered(f"{_method(scope)} {route_of(scope)}", answer.status)
                self._note(scope, answer, elapsed() - began)
        return None

    def _note(self, scope: Scope, answer: "_Answer", seconds: float) -> None:
        route, method = route_of(scope), _method(scope)
        self._counter(route, method, answer.status).inc()
        if route in LOGIN_ROUTES and method == "POST":
            self.metrics.logins.labels(LOGIN_OUTCOMES.get(answer.status, "not decided")).inc()
        if answer.is_stream:
            return
        self._clock(route, method).observe(seconds)
        if seconds > SLOW_SECONDS and elapsed() > self._quiet_until:
            self._quiet_until = elapsed() + QUIET_SECONDS
            log.warning("slow request", seconds=round(seconds, 3), **described(scope, answer.status))
        elif _level.isEnabledFor(logging.DEBUG):
            log.debug("request", seconds=round(seconds, 4), **described(scope, answer.status))


class _Answer:
    """What is sent, looked at as it passes."""

    def __init__(self, metrics: Metrics, send: Send) -> None:
        self.status = 499  # whoever asked was gone before there was an answer
        self.is_stream = False
        self._metrics = metrics
        self._send = send

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.is_stream = is_stream(message["headers"])
            if self.is_stream:
                self._metrics.streams_open.inc()
        await self._send(message)
        if self.is_stream and message["type"] == "http.response.body":
            self._metrics.stream_events.inc(_EVENT.search(message.get("body", b""), 0, HEAD) is not None)

    def end(self) -> None:
        if self.is_stream:
            self._metrics.streams_open.dec()


def is_stream(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether an answer goes on until somebody ends it: it says so to proxies, which are not to hold it back."""
    return any(name == b"x-accel-buffering" and value == b"no" for name, value in headers)


def route_of(scope: Scope) -> str:
    """The route as it was declared; all that no route matched together, however many paths they were.

    A route of an included router does not know its prefix; FastAPI notes beside it how it was found."""
    found = scope.get("fastapi", {}).get("effective_route_context") or scope.get("route")
    return getattr(found, "path", "") or "unmatched"


def described(scope: Scope, status: int) -> dict[str, object]:
    """A request in a log line: nothing of its query, headers or body, and of its path only a workspace's id."""
    words: dict[str, object] = {"method": _method(scope), "route": route_of(scope), "status": status}
    workspace_id = scope.get("path_params", {}).get("workspace_id")
    return words | ({"workspace_id": str(workspace_id)} if workspace_id is not None else {})


def _method(scope: Scope) -> str:
    return scope["method"] if scope["method"] in METHODS else "other"
