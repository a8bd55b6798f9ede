"""Traces sent to an OpenTelemetry collector over HTTP. Only imported where one is set (extra `otel`)."""

import threading
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from datetime import datetime
from importlib.metadata import version
from typing import Any
from uuid import UUID

import structlog
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    format_trace_id,
    set_span_in_context,
    use_span,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from codehub.telemetry.traces import Attributes, RequestSpan, Traces

CLOSE_SECONDS = 3.0


class SentTraces(Traces):
    """Spans are gathered in memory and sent by a thread; a collector that is away costs spans, never a request."""

    def __init__(self, endpoint: str, instance: str) -> None:
        resource = Resource.create(
            {
                "service.name": "codehub",
                "service.version": version("codehub-server"),
                "service.instance.id": instance,
            }
        )
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
        self._provider.add_span_processor(BatchSpanProcessor(self._exporter))
        self._tracer = self._provider.get_tracer("codehub")
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def request(self, scope: MutableMapping[str, Any]) -> Iterator[RequestSpan]:
        carried = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        context = self._propagator.extract({name: carried.get(name, "") for name in ("traceparent", "tracestate")})
        attributes = {"codehub.request_id": scope.get("state", {}).get("request_id", "")}
        span = self._tracer.start_span("request", context=context, kind=SpanKind.SERVER, attributes=attributes)
        _bind_trace(span)
        with use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
            yield _Request(span)

    @contextmanager
    def span(self, name: str, attributes: Attributes, operation: UUID | None) -> Iterator[None]:
        with self._tracer.start_as_current_span(
            name,
            context=_trace_of(operation),
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            _bind_trace(span)
            try:
                yield
            except BaseException as error:
                span.set_status(Status(StatusCode.ERROR, type(error).__name__))
                raise

    def past(self, name: str, began: datetime, attributes: Attributes, operation: UUID | None) -> None:
        start = int(began.timestamp() * 1_000_000_000)
        self._tracer.start_span(name, _trace_of(operation), attributes=attributes, start_time=start).end()

    def close(self) -> None:
        """Within a few seconds, also where the collector does not answer: the process is about to end."""
        giving_up = threading.Timer(CLOSE_SECONDS, self._exporter.shutdown)
        giving_up.start()
        self._provider.shutdown()
        giving_up.cancel()


def _trace_of(operation: UUID | None) -> Context:
    """The trace that has this operation's id; none that is inherited, for a controller acts on nobody's request."""
    if operation is None:
        return Context()
    parent = SpanContext(operation.int, operation.int >> 64, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
    return set_span_in_context(NonRecordingSpan(parent), Context())


def _bind_trace(span: Span) -> None:
    structlog.contextvars.bind_contextvars(trace_id=format_trace_id(span.get_span_context().trace_id))


class _Request:
    def __init__(self, span: Span) -> None:
        self._span = span

    def answered(self, name: str, status: int) -> None:
        method, _, route = name.partition(" ")
        self._span.update_name(name)
        self._span.set_attributes(
            {"http.request.method": method, "http.route": route, "http.response.status_code": status}
        )
        if status >= 500:
            self._span.set_status(StatusCode.ERROR)
