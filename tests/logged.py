"""What this process logs, caught for a test to read."""

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from codehub.telemetry import logs


@contextmanager
def logged() -> Iterator[io.StringIO]:
    """All of it, as JSON, from here on; afterwards everything is logged as before."""
    with logging_as_before():
        said = io.StringIO()
        logs.configure("debug", "json", said)
        yield said


@contextmanager
def logging_as_before() -> Iterator[None]:
    """Whatever is configured within does not last: pytest listens to the root logger too."""
    root, configured = logging.getLogger(), structlog.get_config()
    before = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:], root.level = before
        structlog.configure(**configured)
        structlog.contextvars.clear_contextvars()
