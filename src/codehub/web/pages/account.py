"""One's own account: password, sessions, API tokens. What the pages do is what the API does."""

from collections.abc import Awaitable
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form, Request
from pydantic import ValidationError
from starlette.responses import RedirectResponse, Response

from codehub.decide.password import SHORTEST
from codehub.model.accounts import Caller, Role, Scope
from codehub.web.api import account, sessions, tokens
from codehub.web.api.schemas.account import MadeToken, NewPassword, NewToken
from codehub.web.pages.reading import Message, person, reading
from codehub.web.pages.refusing import said
from codehub.web.pages.render import form_page
from codehub.web.parts import parts_of
from codehub.web.problems import Plain, Refused

router = APIRouter(prefix="/account", include_in_schema=False)

Sent = Annotated[str, Form(alias="csrf_token")]
Text = Annotated[str, Form(max_length=1000)]
LASTS_DAYS = (30, 90, 365)


@router.get("")
async def show_account(request: Request) -> Response:
    return await _page(request, await person(request))


@router.get("/password")
@router.get("/tokens")
async def show_account_again() -> Response:
    """For whoever reloads the page that a form was answered with."""
    return RedirectResponse("/account", 303)


@router.post("/password")
async def change_password(
    request: Request, token: Sent, present: Text, new: Text, revoke_tokens: Annotated[bool, Form()] = False
) -> Response:
    caller = await parts_of(request).callers.identify_form(request, token)
    response = _back(request, Message("account.password_changed", {}))
    try:
        sent = NewPassword(present=present, new=new, revoke_tokens=revoke_tokens)
        await account.change_password(request, response, sent, caller)
    except ValidationError:
        return await _page(request, caller, Plain(422, "The request is not valid."))
    except Refused as refusal:
        return await _page(request, caller, refusal)
    return response


@router.post("/sessions/end-others")
async def end_other_sessions(request: Request, token: Sent) -> Response:
    caller = await parts_of(request).callers.identify_form(request, token)
    ended = (await sessions.end_other_sessions(request, caller)).ended
    return _back(request, Message("account.others_ended", {"count": ended}))


@router.post("/sessions/{session_id}/end")
async def end_session(request: Request, session_id: UUID, token: Sent) -> Response:
    caller = await parts_of(request).callers.identify_form(request, token)
    return await _done(request, caller, sessions.end_session(request, session_id, caller), "account.session_ended")


@router.post("/tokens")
async def make_token(
    request: Request, token: Sent, name: Text, scope: Annotated[Scope, Form()], days: Annotated[int, Form()]
) -> Response:
    """Its secret is on this page and nowhere else: it is not put into an address, and is gone with the next page."""
    caller = await parts_of(request).callers.identify_form(request, token)
    try:
        new = NewToken(name=name, scopes={scope}, expires_in_seconds=days * 86400 or None)
        made = await tokens.create_token(request, new, caller)
    except ValidationError:
        return await _page(request, caller, Plain(422, "The request is not valid."))
    except Refused as refusal:
        return await _page(request, caller, refusal)
    return await _page(request, caller, made=made)


@router.post("/tokens/{token_id}/revoke")
async def revoke_token(request: Request, token_id: UUID, token: Sent) -> Response:
    caller = await parts_of(request).callers.identify_form(request, token)
    return await _done(request, caller, tokens.revoke_token(request, token_id, caller), "account.token_revoked")


async def _done(request: Request, caller: Caller, work: Awaitable[None], key: str) -> Response:
    try:
        await work
    except Refused as refusal:
        return await _page(request, caller, refusal)
    return _back(request, Message(key, {}))


def _back(request: Request, message: Message) -> RedirectResponse:
    response = RedirectResponse("/account", 303)
    Message.put_all([message], response, secure=parts_of(request).callers.secure)
    return response


async def _page(
    request: Request, caller: Caller, refusal: Refused | None = None, made: MadeToken | None = None
) -> Response:
    language = reading(request, caller.locale).language
    return form_page(
        request,
        "account.html",
        refusal.status if refusal is not None else 200,
        caller=caller,
        path="/account",
        trouble=said(refusal, language) if refusal is not None else "",
        made=made,
        tokens=(await tokens.list_tokens(request, caller)).items,
        sessions=(await sessions.list_sessions(request, caller)).items,
        scopes=[scope for scope in Scope if scope is not Scope.ADMIN or caller.role is Role.ADMIN],
        lasts=LASTS_DAYS,
        shortest=SHORTEST,
    )
