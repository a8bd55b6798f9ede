"""Logging a command line in by the browser, in the manner of OAuth for native apps (RFC 8252, PKCE with S256):

1. The command makes a random `verifier` (43 to 128 letters, digits or `-._~`), its `challenge`
   (`base64url(sha256(verifier))` without padding) and a random `state`, listens on `127.0.0.1:{port}`, and opens
   `/cli-login?challenge=...&state=...&port=...&name=...&scope=...` in a browser. `name` is what the token shall be
   called, `scope` is `hold`, `read`, `workspaces` (without it) or `admin`.
2. The person logs in where needed, compares the short code on the page with the one in the terminal (the first eight
   hexadecimal digits of `sha256(challenge)`, in capitals, as `1A2B-3C4D`) and approves.
3. The browser is sent to `http://127.0.0.1:{port}/callback?code=...&state=...`, or, where the person refuses, with
   `error=access_denied&state=...`. The command checks `state`.
4. The command sends `{"code": ..., "verifier": ...}` to `POST /api/v1/auth/codes/exchange` and gets its token. A code
   is good once and for 60 seconds.
"""

import hashlib
import secrets
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from pydantic import Field
from starlette.responses import RedirectResponse, Response

from codehub.model.accounts import Scope
from codehub.store import audit, login_codes
from codehub.web.actors import actor_of
from codehub.web.api.auth import CLI_PURPOSE
from codehub.web.api.schemas.texts import Body, Label
from codehub.web.pages.login import login_address
from codehub.web.pages.render import form_page
from codehub.web.parts import parts_of
from codehub.web.problems import NotLoggedIn
from codehub.web.tokens import allowed

router = APIRouter(include_in_schema=False)


class Asked(Body):
    """What a command line asks for. Only to this machine is anything sent back: there is no other address to give."""

    challenge: str = Field(pattern="^[A-Za-z0-9_-]{43}$")
    state: str = Field(pattern="^[A-Za-z0-9._~-]{16,128}$")
    port: int = Field(ge=1024, le=65535)
    name: Label
    scope: Scope = Scope.WORKSPACES

    def back(self, **answer: str) -> str:
        return f"{self.loopback}/callback?{urlencode({**answer, 'state': self.state})}"

    @property
    def loopback(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def short_code(self) -> str:
        digits = hashlib.sha256(self.challenge.encode()).hexdigest()[:8].upper()
        return f"{digits[:4]}-{digits[4:]}"


class Answered(Asked):
    csrf_token: str
    approved: bool


@router.get("/cli-login")
async def show_cli_login(request: Request, asked: Annotated[Asked, Query()]) -> Response:
    callers = parts_of(request).callers
    try:
        caller = await callers.identify(request)
    except NotLoggedIn:
        return RedirectResponse(login_address(f"/cli-login?{urlencode(asked.model_dump(mode='json'))}"), 303)
    allowed(frozenset({asked.scope}), caller.role)
    fields = asked.model_dump(mode="json")
    return form_page(request, "cli_login.html", caller=caller, also_to=asked.loopback, asked=asked, fields=fields)


@router.post("/cli-login")
async def answer_cli_login(request: Request, answered: Annotated[Answered, Form()]) -> Response:
    parts = parts_of(request)
    caller = await parts.callers.identify_form(request, answered.csrf_token)
    if not answered.approved:
        return RedirectResponse(answered.back(error="access_denied"), 303)
    scopes = allowed(frozenset({answered.scope}), caller.role)
    secret = secrets.token_urlsafe(32)
    detail = {"challenge": answered.challenge, "name": answered.name, "scopes": sorted(scopes)}
    async with parts.writes.begin() as connection:
        await login_codes.make_code(connection, login_codes.NewCode(caller.user_id, secret, CLI_PURPOSE, detail))
        actor = actor_of(request, caller)
        await audit.record(connection, actor, "login.approve_cli", subject=answered.name, scopes=sorted(scopes))
    return RedirectResponse(answered.back(code=secret), 303)
