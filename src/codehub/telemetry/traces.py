"""Traces, where `OTEL_EXPORTER_OTLP_ENDPOINT` names a collector; elsewhere the same calls do nothing."""

from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from codehub.errors import ConfigurationError

Attributes = Mapping[str, str | int]


class RequestSpan(Protocol):
    def answered(self, name: str, status: int) -> None:
        """The request has its answer; by now its route is known, which names the span."""


class Traces:
    """No collector: nothing is recorded."""

    @contextmanager
    def request(self, _scope: MutableMapping[str, Any]) -> Iterator[RequestSpan]:
        """Around the answering of one request, under the trace of whoever asked, if they sent one."""
        yield _Unrecorded()

    @contextmanager
    def span(self, _name: str, _attributes: Attributes, _operation: UUID | None) -> Iterator[None]:
        """Around some work for this operation. An error that leaves it is recorded by its kind, never by its words."""
        yield

    def past(self, name: str, began: datetime, attributes: Attributes, operation: UUID | None) -> None:
        """An operation that began then and has ended now, perhaps begun by another process. Its id is its trace's, so
        that all of it is found together, whoever did it."""

    def close(self) -> None:
        """Send what is still waiting."""


class _Unrecorded:
    def answered(self, _name: str, _status: int) -> None: ...


def open_traces(endpoint: str | None, instance: str) -> Traces:
    """Raises ConfigurationError where a collector is set and the packages that speak to it are missing."""
    if endpoint is None:
        return Traces()
    try:
        from codehub.telemetry.otel import SentTraces
    except ImportError as error:
        raise ConfigurationError(
            f"OTEL_EXPORTER_OTLP_ENDPOINT is set, but traces cannot be sent: {error.name} is not installed.",
            "Install it with: pip install 'codehub-server[otel]'",
        ) from error
    return SentTraces(endpoint, instance)
