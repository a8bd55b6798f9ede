"""Log lines: for people on a terminal, one JSON object per line everywhere else. Nothing in them can fool or betray.

Log a constant message with keys, once per change: `log.info("phase changed", workspace_id=..., before=..., after=...)`.
"""

import logging
import re
import sys
from collections.abc import Mapping
from typing import Literal, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from codehub.settings.variables import HIDDEN, hide_passwords

_SECRET_KEY = re.compile(r"password|secret|token|authorization|cookie|credential", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_CONTROL_BUT_LINES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
# PostgreSQL and its driver show what they refuse, whatever is in it.
_REFUSED = re.compile(r"^(.*?(?:DETAIL:|invalid input [^:]*:|invalid \w+ ')).*$", re.MULTILINE)

# Libraries that say at "info" what only their own developers need.
_TALKATIVE = ("alembic", "asyncio", "httpcore", "httpx", "uvicorn.access")


def configure(
    level: Literal["debug", "info", "warning", "error"] = "info",
    style: Literal["auto", "console", "json"] = "auto",
    stream: TextIO | None = None,
) -> None:
    """Send every log line of this process, those of libraries included, through one formatter to the stream (stderr).

    Called once by the command that runs; a second call replaces the first.
    """
    stream = stream or sys.stderr
    console = style == "console" or (style == "auto" and stream.isatty())
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.ExtraAdder(),
    ]
    renderer: Processor = (
        structlog.dev.ConsoleRenderer(colors=stream.isatty())
        if console
        else structlog.processors.JSONRenderer(ensure_ascii=True)
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[structlog.stdlib.PositionalArgumentsFormatter(), *shared],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            _without_decoration,
            structlog.processors.format_exc_info,
            harmless,
            renderer,
        ],
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    logging.getLogger("opentelemetry").setLevel(logging.ERROR)  # that a collector is away is said once, not at each try
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,  # loggers made at import time must follow a later configure
    )


def _without_decoration(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """uvicorn repeats its message in colours, for a formatter of its own."""
    event.pop("color_message", None)
    return event


def harmless(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Hide secrets and escape control characters in every value.

    Names, paths and error texts come from users and other programs: one with a line break could write a log line of its
    own, one with an escape sequence could rewrite the terminal of whoever reads it.
    """
    return {key: _harmless_value(key, value) for key, value in event.items()}


def _harmless_value(key: str, value: object) -> object:
    if _SECRET_KEY.search(key):
        return HIDDEN
    match value:
        case bool() | int() | float() | None:
            return value
        case Mapping():
            return {str(inner): _harmless_value(str(inner), item) for inner, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_harmless_value(key, item) for item in value]
        case _:
            unsafe = _CONTROL_BUT_LINES if key == "exception" else _CONTROL
            shown = _REFUSED.sub(rf"\1 {HIDDEN}", hide_passwords(str(value)))
            return unsafe.sub(lambda found: f"\\x{ord(found[0]):02x}", shown)
