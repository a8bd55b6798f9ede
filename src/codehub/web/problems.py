"""Errors as problem documents (RFC 9457), each with a stable `code` that programs can rely on."""

from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from codehub.web.headers import SECURITY_HEADERS


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


def install(app: FastAPI) -> None:
    """Answer every error of the application, its own mistakes included, with a problem document."""

    async def refused(_request: Request, error: Exception) -> JSONResponse:
        if not isinstance(error, HTTPException):
            raise error
        return problem(error.status_code, detail=str(error.detail), headers=error.headers)

    async def invalid(_request: Request, error: Exception) -> JSONResponse:
        if not isinstance(error, RequestValidationError):
            raise error
        mistakes = [{"at": ".".join(map(str, mistake["loc"])), "message": mistake["msg"]} for mistake in error.errors()]
        return problem(422, code="invalid_request", detail="The request is not valid.", errors=mistakes)

    async def failed(_request: Request, _error: Exception) -> JSONResponse:
        return problem(500, detail="Something went wrong here, and was written to the log.")

    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(Exception, failed)


def _code(title: str) -> str:
    return title.lower().replace(" ", "_").replace("-", "_")
