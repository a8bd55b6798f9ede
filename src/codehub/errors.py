"""Errors, by who can act on them. Foreign errors are mapped to these once, at the edge where they arrive."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any


class ExitCode(IntEnum):
    """What the `codehub` command exits with, so that scripts can tell situations apart (docs/commands.md)."""

    OK = 0
    FAILED = 1
    USAGE = 2
    CONFIGURATION = 3
    PORT_TAKEN = 4
    DATA_FOLDER = 5
    DISK_FULL = 6
    SERVICE = 7
    NOT_RUNNING = 8
    NOT_LOGGED_IN = 9
    NOT_FOUND = 10
    REFUSED = 11
    LIMIT_REACHED = 12
    IN_ERROR = 13
    TIMED_OUT = 14


class CodehubError(Exception):
    """Something a person has to act on: one sentence that says what is wrong, one that says what to do."""

    exit_code = ExitCode.FAILED
    problem: Mapping[str, Any] | None = None
    """The document that a server refused it with, for programs; None where no server did."""

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what} {self.remedy}".strip()


class ConfigurationError(CodehubError):
    """A setting has a value that cannot be used."""

    exit_code = ExitCode.CONFIGURATION


class PortTaken(CodehubError):
    """The address that codehub should listen on belongs to another program."""

    exit_code = ExitCode.PORT_TAKEN


class DataFolderError(CodehubError):
    """The data folder cannot be used as it is: not writable, of a newer version, or damaged."""

    exit_code = ExitCode.DATA_FOLDER


class DiskFull(CodehubError):
    """There is not enough room to go on safely."""

    exit_code = ExitCode.DISK_FULL


class ServiceError(CodehubError):
    """A service that codehub stands on (PostgreSQL, Redis, the archive store) does not answer, or is too old."""

    exit_code = ExitCode.SERVICE


class NotRunning(CodehubError):
    """The command needs a running codehub, and there is none."""

    exit_code = ExitCode.NOT_RUNNING
