"""The login page, for browsers with and without JavaScript."""

import re
from typing import Annotated
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from codehub.web import logins
from codehub.web.account_problems import AccountDisabled, TooManyAttempts, WrongCredentials
from codehub.web.api import auth
from codehub.web.api.schemas.texts import PRINTABLE
from codehub.web.pages.reading import local, reading
from codehub.web.pages.refusing import said
from codehub.web.pages.render import form_page
from codehub.web.parts import parts_of
from codehub.web.problems import NotLoggedIn

router = APIRouter(include_in_schema=False)

_OPENS = re.compile(r"/open/([0-9a-f]{32})\?")


@router.get("/login")
async def show_login(request: Request, next: str = "/") -> Response:  # noqa: A002 (what the address calls it)
    try:
        await parts_of(request).callers.identify(request)
    except NotLoggedIn:
        return form_page(
            request, "login.html", also_to=_leads_to(request, next), login="", trouble="", next=local(next)
        )
    return RedirectResponse(local(next), 303)


@router.post("/login")
async def send_login(
    request: Request,
    login: Annotated[str, Form(min_length=1, max_length=64, pattern=PRINTABLE)],
    password: Annotated[str, Form(min_length=1, max_length=256)],
    next: Annotated[str, Form()] = "/",  # noqa: A002
) -> Response:
    parts = parts_of(request)
    parts.callers.refuse_foreign(request)
    try:
        logged_in = await logins.log_in(request, login, password)
    except (WrongCredentials, AccountDisabled, TooManyAttempts) as refusal:
        trouble = said(refusal, reading(request).language)
        page = _page(request, next, refusal.status, login, trouble)
        page.headers.update(refusal.headers or {})
        return page
    response = RedirectResponse(local(next), 303)
    logged_in.put_into(response, parts)
    return response


@router.post("/logout")
async def log_out(request: Request, token: Annotated[str, Form(alias="csrf_token")]) -> Response:
    caller = await parts_of(request).callers.identify_form(request, token)
    response = RedirectResponse("/login", 303)
    await auth.log_out(request, response, caller)
    return response


def _page(request: Request, following: str, status: int = 200, login: str = "", trouble: str = "") -> Response:
    to = _leads_to(request, following)
    return form_page(request, "login.html", status, also_to=to, login=login, trouble=trouble, next=local(following))


def login_address(following: str) -> str:
    """Where to send somebody who has to log in first, and then go on there."""
    return f"/login?{urlencode({'next': following})}"


def _leads_to(request: Request, following: str) -> str:
    """The origin that somebody goes on to who logs in to open a workspace."""
    found = _OPENS.match(following)
    return parts_of(request).origins.of(UUID(found[1])) if found is not None else ""
