"""What a server refuses, as a sentence for the person and an exit code for the script."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from codehub.cli.contexts import NotLoggedIn
from codehub.errors import CodehubError, ExitCode, ServiceError

Problem = Mapping[str, Any]


class NotFound(CodehubError):
    exit_code = ExitCode.NOT_FOUND


class Refused(CodehubError):
    """It may not be done, or not as things are."""

    exit_code = ExitCode.REFUSED


class LimitReached(CodehubError):
    exit_code = ExitCode.LIMIT_REACHED


class InError(CodehubError):
    """The workspace is in ERROR, where it needs a person."""

    exit_code = ExitCode.IN_ERROR


class TimedOut(CodehubError):
    """It did not become so within the time that was given; the wish stays."""

    exit_code = ExitCode.TIMED_OUT


_BY_CODE: Mapping[str, type[CodehubError]] = {"in_error": InError, "limit_reached": LimitReached}
_BY_STATUS: Mapping[int, type[CodehubError]] = {
    HTTPStatus.UNAUTHORIZED: NotLoggedIn,
    HTTPStatus.NOT_FOUND: NotFound,
    HTTPStatus.INTERNAL_SERVER_ERROR: CodehubError,
    HTTPStatus.SERVICE_UNAVAILABLE: ServiceError,
}
_REMEDIES: Mapping[str, str] = {
    "not_logged_in": "The login has ended: log in again with: codehub login {server}",
    "scope_missing": "If you administer this codehub, log in for that: codehub login --admin {server}",
    "in_error": "With: codehub ws recover",
    "changed_meanwhile": "The command can be repeated.",
}


def refusal(problem: Problem, server: str) -> CodehubError:
    """The error that this problem document (RFC 9457) is for whoever sits at the terminal. Keeps the document."""
    code = str(problem.get("code", ""))
    kind = _BY_CODE.get(code) or _BY_STATUS.get(problem["status"], Refused)
    error = kind(_what(problem), _remedy(code, problem).replace("{server}", server))
    error.problem = dict(problem)
    return error


def _what(problem: Problem) -> str:
    if problem.get("code") == "not_logged_in":
        return "You are not logged in."
    if problem.get("errors"):
        return " ".join(_mistake(each) for each in problem["errors"])
    return str(problem.get("detail") or problem.get("title"))


def _mistake(mistake: Mapping[str, str]) -> str:
    where = mistake["at"].removeprefix("body.").removeprefix("query.")
    return f"{where}: {mistake['message'].rstrip('.')}."


def _remedy(code: str, problem: Problem) -> str:
    if code == "limit_reached":
        names = ", ".join(each["name"] for each in problem["running"])
        return f"These run: {names} (codehub ws stop NAME)." if names else ""
    return _REMEDIES.get(code, "")
