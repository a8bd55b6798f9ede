"""Errors as problem documents (RFC 9457), each with a stable `code` that programs can rely on."""

from collections.abc import Callable, Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from codehub.store.away import FOREIGN, is_away, is_full
from codehub.web.headers import SECURITY_HEADERS

RETRY_AFTER_SECONDS = 2


def problem(
    status: int, *, code: str = "", detail: str = "", headers: Mapping[str, str] | None = None, **more: object
) -> JSONResponse:
    """An error as a document: the status in words, the stable code, and a sentence for the person who reads it."""
    title = HTTPStatus(status).phrase
    body = {"type": "about:blank", "title": title, "status": status, "code": code or _code(title)}
    if detail and detail != title:
        body["detail"] = detail
    return JSONResponse(
        {**body, **more},
        status_code=status,
        headers={**SECURITY_HEADERS, "Cache-Control": "no-store", **(headers or {})},
        media_type="application/problem+json",
    )


class Refused(Exception):
    """A request that cannot be done as asked. Subclasses fix status and code, which programs rely on; what is said to
    the person, and what else the document carries, is given where it is raised."""

    status = 400
    code = "bad_request"

    def __init__(self, detail: str = "", *, headers: Mapping[str, str] | None = None, **more: object) -> None:
        super().__init__(detail)
        self.detail = detail
        self.headers = headers
        self.more = more


class NotLoggedIn(Refused):
    status = 401
    code = "not_logged_in"

    def __init__(self, detail: str = "Log in, or send a token that is still good.") -> None:
        super().__init__(detail, headers={"WWW-Authenticate": 'Bearer realm="codehub"'})


class NotAllowed(Refused):
    """The caller is known and may not do this, however often they try."""

    status = 403
    code = "not_allowed"


class ScopeMissing(NotAllowed):
    code = "scope_missing"


class SessionNeeded(NotAllowed):
    code = "session_needed"


class ForeignOrigin(NotAllowed):
    code = "foreign_origin"


class Missing(Refused):
    """Not there, or not theirs: the answer is the same, so that nobody learns what others have."""

    status = 404
    code = "not_found"


class ServiceAway(Refused):
    """A part of the installation does not answer. Nothing was done, and it is worth trying again."""

    status = 503
    code = "service_away"

    def __init__(self, detail: str = "A part of codehub does not answer at the moment; try again.") -> None:
        super().__init__(detail, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


class DatabaseFull(Refused):
    """Nothing was done, and nothing new can be kept before somebody has made room."""

    status = 503
    code = "database_full"

    def __init__(self) -> None:
        said = "The database has no room left on its disk; nothing was changed. Whoever runs codehub has to make room."
        super().__init__(said, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


def refusal(error: Exception) -> JSONResponse:
    """The document for what was refused, or for a database that is away. Any other error is a mistake of ours, and is
    raised again."""
    refused = _refused(error)
    return problem(refused.status, code=refused.code, detail=refused.detail, headers=refused.headers, **refused.more)


def _refused(error: Exception) -> Refused:
    if isinstance(error, Refused):
        return error
    if is_full(error):
        return DatabaseFull()
    if not is_away(error):
        raise error
    return ServiceAway("The database does not answer at the moment; try again.")


class Plain(Refused):
    """What the framework refuses, or a mistake of ours, in the same form as the rest."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail, headers=headers)
        self.status = status
        self.code = _code(HTTPStatus(status).phrase)


PageFor = Callable[[Request, Refused], Response | None]
"""The page for a refusal, where a person asked for one; None for whoever reads documents."""


def documents_only(_request: Request, _refused: Refused) -> Response | None:
    return None


def install(app: FastAPI, page_for: PageFor = documents_only) -> None:
    """Answer every error of the application, its own mistakes included, with a page or a problem document."""

    async def answered(request: Request, error: Exception) -> Response:
        return page_for(request, _refused(error)) or refusal(error)

    async def refused(request: Request, error: Exception) -> Response:
        if not isinstance(error, HTTPException):
            raise error
        plain = Plain(error.status_code, str(error.detail), error.headers)
        return page_for(request, plain) or refusal(plain)

    async def invalid(request: Request, error: Exception) -> Response:
        if not isinstance(error, RequestValidationError):
            raise error
        if (page := page_for(request, Plain(422, "The request is not valid."))) is not None:
            return page
        if not _is_json(request) and any(mistake["loc"] == ("body",) for mistake in error.errors()):
            return problem(415, code="not_json", detail="Send the body as JSON, with Content-Type: application/json.")
        mistakes = [{"at": ".".join(map(str, mistake["loc"])), "message": mistake["msg"]} for mistake in error.errors()]
        return problem(422, code="invalid_request", detail="The request is not valid.", errors=mistakes)

    async def failed(request: Request, _error: Exception) -> Response:
        plain = Plain(500, "Something went wrong here, and was written to the log.")
        return page_for(request, plain) or refusal(plain)

    for kind in (Refused, *FOREIGN):
        app.add_exception_handler(kind, answered)
    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(Exception, failed)


def _is_json(request: Request) -> bool:
    """A form or plain text can be sent by any page of any site, and is not read."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return media_type == "application/json" or media_type.endswith("+json")


def _code(title: str) -> str:
    if title in {"Content Too Large", "Request Entity Too Large"}:  # as newer and older Pythons call it
        return "too_large"
    return title.lower().replace(" ", "_").replace("-", "_")
