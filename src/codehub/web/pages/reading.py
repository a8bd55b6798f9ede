"""Who reads a page, and how they want it: language, theme, time zone. Kept in cookies, because it is the browser's."""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import quote, unquote

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from codehub import clock
from codehub.model.accounts import Caller, Proof
from codehub.store import users
from codehub.web.pages.languages import LANGUAGES, Language, accepted
from codehub.web.pages.telling import Telling, zone
from codehub.web.parts import parts_of
from codehub.web.problems import NotLoggedIn

router = APIRouter(include_in_schema=False)

LANGUAGE, THEME, ZONE, MESSAGE = "codehub-language", "codehub-theme", "codehub-zone", "codehub-message"
THEMES = ("auto", "light", "dark")
KEPT_SECONDS = 365 * 86400
SHOWN_SECONDS = 60
MOST_MESSAGES = 5
FETCHED = "X-Requested-With"
"""Sent by the script of our own pages, which shows what happened by itself. (The front door lets no X-Codehub-* in.)"""


@dataclass(frozen=True, slots=True)
class Message:
    """What happened, to be said once on the next page."""

    key: str
    values: dict[str, str | int]
    is_trouble: bool = False

    @staticmethod
    def put_all(messages: Sequence["Message"], response: Response, *, secure: bool) -> None:
        told = [[each.key, each.values, each.is_trouble] for each in messages[:MOST_MESSAGES]]
        packed = base64.urlsafe_b64encode(json.dumps(told).encode()).decode()
        response.set_cookie(MESSAGE, packed, max_age=SHOWN_SECONDS, secure=secure, httponly=True, samesite="lax")


@dataclass(frozen=True, slots=True)
class Reading:
    language: Language
    theme: str
    telling: Telling
    messages: Sequence[Message]


def reading(request: Request, locale: str | None = None) -> Reading:
    """`locale` is what the reader's account says; the browser's own choice comes before it."""
    cookies = request.cookies
    chosen = LANGUAGES.get(cookies.get(LANGUAGE, "")) or LANGUAGES.get((locale or "").partition("-")[0])
    language = chosen or accepted(request.headers.get("accept-language", ""))
    theme = cookies.get(THEME, THEMES[0])
    telling = Telling(language, clock.now(), zone(unquote(cookies.get(ZONE, ""))) if ZONE in cookies else None)
    return Reading(
        language, theme if theme in THEMES else THEMES[0], telling, _messages(cookies.get(MESSAGE), language)
    )


def _messages(packed: str | None, language: Language) -> Sequence[Message]:
    """What cannot be read, or has no words, is nothing that we have put there."""
    if packed is None:
        return ()
    try:
        messages = [Message(*each) for each in json.loads(base64.urlsafe_b64decode(packed))]
        for message in messages:
            language.say(message.key, **message.values)
    except (binascii.Error, ValueError, TypeError, KeyError, AttributeError):
        return ()
    return messages


def is_fetched(request: Request) -> bool:
    return FETCHED in request.headers


async def person(request: Request) -> Caller:
    """Who has logged in with this browser. Raises NotLoggedIn, for a token too: pages are for people."""
    caller = await parts_of(request).callers.identify(request)
    if caller.proof is not Proof.SESSION:
        raise NotLoggedIn
    return caller


def local(address: str) -> str:
    """The address, if it is one of our own pages, else the first one: a link to us must lead nowhere else."""
    ours = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if ours and address.isascii() and address.isprintable() else "/"


def here(request: Request) -> str:
    """The address of this page, to come back to."""
    query = f"?{request.url.query}" if request.url.query else ""
    return quote(request.url.path, safe="/") + query


@router.post("/preferences")
async def choose(
    request: Request,
    language: Annotated[str | None, Form()] = None,
    theme: Annotated[Literal["auto", "light", "dark"] | None, Form()] = None,
    next: str = "/",  # noqa: A002 (what the address calls it)
) -> Response:
    """Remember a choice in this browser; the language also in the account, for the pages on a workspace's origin."""
    callers = parts_of(request).callers
    callers.refuse_foreign(request)
    response = RedirectResponse(local(next), 303)
    if language in LANGUAGES:
        _keep(response, LANGUAGE, language, secure=callers.secure)
        await _keep_in_account(request, language)
    if theme is not None:
        _keep(response, THEME, theme, secure=callers.secure)
    return response


def _keep(response: Response, name: str, value: str, *, secure: bool) -> None:
    response.set_cookie(name, value, max_age=KEPT_SECONDS, secure=secure, httponly=True, samesite="lax")


async def _keep_in_account(request: Request, language: str) -> None:
    parts = parts_of(request)
    secret = request.cookies.get(parts.callers.cookie_name)
    if not secret:
        return
    try:
        caller = await parts.callers.known_as(secret, Proof.SESSION)
    except NotLoggedIn:
        return
    async with parts.writes.begin() as connection:
        await users.change_user(connection, caller.user_id, {"locale": language})
    parts.callers.forget()
