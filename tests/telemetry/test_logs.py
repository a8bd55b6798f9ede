"""What reaches the log, and what never does."""

import io
import json
import logging
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
import structlog

from codehub.telemetry import logs
from tests.logged import logging_as_before

log = structlog.get_logger("codehub.test")


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """A stream to log to."""
    with logging_as_before():
        yield io.StringIO()


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_stream_that_is_no_terminal_gets_one_json_object_per_line(stream: io.StringIO) -> None:
    logs.configure(stream=stream)
    log.info("phase changed", before="STANDBY", after="RUNNING", seconds=1.5)
    [line] = lines(stream)
    moment = datetime.fromisoformat(str(line.pop("timestamp")))
    assert moment.utcoffset() == timedelta(0)
    assert line == {
        "event": "phase changed",
        "level": "info",
        "logger": "codehub.test",
        "before": "STANDBY",
        "after": "RUNNING",
        "seconds": 1.5,
    }


def test_people_get_words(stream: io.StringIO) -> None:
    logs.configure(style="console", stream=stream)
    log.info("phase changed", after="RUNNING")
    assert "phase changed" in stream.getvalue()
    assert "after=RUNNING" in stream.getvalue()
    assert "\x1b" not in stream.getvalue()


def test_libraries_are_logged_the_same_way(stream: io.StringIO) -> None:
    logs.configure(stream=stream)
    logging.getLogger("alembic").warning("upgrading to %s", "0002")
    [line] = lines(stream)
    assert (line["event"], line["level"], line["logger"]) == ("upgrading to 0002", "warning", "alembic")


def test_less_important_lines_than_asked_for_are_left_out(stream: io.StringIO) -> None:
    logs.configure("warning", stream=stream)
    log.info("not this")
    logging.getLogger("library").info("nor this")
    log.warning("but this")
    assert [line["event"] for line in lines(stream)] == ["but this"]


@pytest.mark.parametrize("style", ["console", "json"])
def test_a_value_cannot_write_a_line_of_its_own_or_reach_the_terminal(stream: io.StringIO, style: str) -> None:
    logs.configure(style="console" if style == "console" else "json", stream=stream)
    log.info("renamed", name="x\nlevel=error root was here\x1b[2J\x9b\u2028", parts=["\r"], nested={"key": "\x07"})
    text = stream.getvalue()
    assert text.count("\n") == 1
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in text.strip())


def test_the_text_of_an_error_cannot_either(stream: io.StringIO) -> None:
    logs.configure(style="console", stream=stream)
    log.error("failed", exc_info=ValueError("bad\x1b[2J"))
    assert "ValueError: bad\\x1b[2J" in stream.getvalue()
    assert "\x1b" not in stream.getvalue()


@pytest.mark.parametrize("style", ["console", "json"])
def test_secrets_never_reach_the_log(stream: io.StringIO, style: str) -> None:
    logs.configure(style="console" if style == "console" else "json", stream=stream)
    log.info("connecting to postgresql://user:hunter2@host/name", password="hunter2", headers={"Cookie": "hunter2"})
    log.info("connecting", url="redis://:hunter2@host/0", others=["unix:///socket?password=hunter2&db=1"])
    log.error("failed", exc_info=ConnectionError("no answer from postgresql://user:hunter2@host/name"))
    assert "hunter2" not in stream.getvalue()
    assert "@host/name" in stream.getvalue()
