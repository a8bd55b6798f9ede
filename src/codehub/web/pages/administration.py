"""What all pages for administrators have in common: for whom they are, their frame, and how their forms are answered.

They do what the API does, by the same functions; whether somebody may is asked here, where the API asks it by type."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Form, Request
from pydantic import ValidationError
from starlette.datastructures import QueryParams
from starlette.responses import RedirectResponse, Response

from codehub.model.accounts import Caller
from codehub.web.pages.actions import told
from codehub.web.pages.reading import Message, is_fetched, person, reading
from codehub.web.pages.refusing import said, wrong_fields
from codehub.web.pages.render import form_page
from codehub.web.pages.sought import LONGEST
from codehub.web.parts import parts_of
from codehub.web.problems import Plain, Refused, ScopeMissing

TABS = ("overview", "users", "workspaces", "coordinators", "collector", "templates", "audit")
REFRESH_SECONDS = 5
"""How often what others change is told anew: the stream of a browser tells only of its own reader's workspaces."""

_CURSOR = re.compile("[A-Za-z0-9_-]{1,200}")

Sent = Annotated[str, Form(alias="csrf_token")]
Text = Annotated[str, Form(max_length=1000)]


@dataclass(frozen=True, slots=True)
class Question:
    """Before something that is not easily undone."""

    title: str
    what: str
    deed: str
    instead: str
    """Where somebody goes who does not want it."""
    fields: Mapping[str, str] = field(default_factory=dict)


async def administrator(request: Request) -> Caller:
    """Who looks at a page. Raises ScopeMissing."""
    return _administering(await person(request))


async def sent_by(request: Request, token: str) -> Caller:
    """Who has sent a form. Raises ScopeMissing."""
    return _administering(await parts_of(request).callers.identify_form(request, token))


def _administering(caller: Caller) -> Caller:
    if not caller.administers:
        raise ScopeMissing("Only an administrator may do this.")
    return caller


def page(
    request: Request,
    caller: Caller,
    tab: str,
    file: str = "",
    status: int = 200,
    /,
    **values: Any,  # noqa: ANN401 (whatever its template shows)
) -> Response:
    return form_page(
        request,
        file or f"admin_{tab}.html",
        status,
        caller=caller,
        tab=tab,
        tabs=TABS,
        refresh_seconds=REFRESH_SECONDS,
        **values,
    )


def question(request: Request, caller: Caller, tab: str, asked: Question) -> Response:
    """A page that asks first. Its form is sent to the address that it is at."""
    return page(
        request,
        caller,
        tab,
        "admin_confirm.html",
        question=asked.title,
        what=asked.what,
        deed=asked.deed,
        instead=asked.instead,
        fields=asked.fields,
    )


def text_in(query: QueryParams, name: str) -> str:
    """What an address says under this name, as somebody could have written it."""
    return "".join(filter(str.isprintable, query.get(name, "")))[:LONGEST].strip()


def cursor_in(query: QueryParams) -> str | None:
    """Where a list goes on. One that no list could have given is left out, and the list begins at its beginning."""
    cursor = query.get("cursor", "")
    return cursor if _CURSOR.fullmatch(cursor) else None


def back(request: Request, caller: Caller, address: str, messages: Sequence[Message]) -> Response:
    """What happened: as toasts for the script of the page, otherwise on this page."""
    if is_fetched(request):
        return told(request, caller, messages)
    response = RedirectResponse(address, 303)
    Message.put_all(messages, response, secure=parts_of(request).callers.secure)
    return response


def refused(request: Request, caller: Caller, address: str, refusal: Refused | ValidationError) -> Response:
    return back(request, caller, address, [Message("admin.refused", {"why": why(request, caller, refusal)}, True)])


def form(
    request: Request,
    caller: Caller,
    tab: str,
    file: str,
    refusal: Refused | ValidationError | None,
    /,
    **values: Any,  # noqa: ANN401 (whatever its template shows)
) -> Response:
    """As it was filled in, with what was wrong in it, if something was."""
    if refusal is None:
        return page(request, caller, tab, file, trouble="", wrong=frozenset(), **values)
    status, wrong = (refusal.status, frozenset[str]()) if isinstance(refusal, Refused) else (422, wrong_fields(refusal))
    return page(request, caller, tab, file, status, trouble=why(request, caller, refusal), wrong=wrong, **values)


def why(request: Request, caller: Caller, refusal: Refused | ValidationError) -> str:
    told_as = refusal if isinstance(refusal, Refused) else Plain(422, "The request is not valid.")
    return said(told_as, reading(request, caller.locale).language)
