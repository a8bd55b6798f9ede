"""Pages from templates: everything that is put into them is escaped, and all that they say is in their reader's
language. They work without a script; where there is one, it is ours and from the same origin."""

from collections.abc import Mapping
from typing import Any

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from codehub.model.accounts import Caller
from codehub.web.pages.languages import LANGUAGES
from codehub.web.pages.reading import MESSAGE, THEMES, Reading, here, local, reading
from codehub.web.pages.shortcuts import SHORTCUTS
from codehub.web.parts import parts_of

_TEMPLATES = Environment(
    loader=PackageLoader("codehub.web.pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)

# With `no-referrer`, a browser says "null" for the origin of a form, and we could not tell it from a stranger's.
_OF_FORMS = {"Cache-Control": "no-store", "Referrer-Policy": "same-origin", "Vary": "Cookie, Accept-Language"}
_ALWAYS = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; "
_SCRIPTS = "script-src 'self'; connect-src 'self'; worker-src 'self'; "


def text(template: str, reads: Reading, **values: object) -> str:
    """A template in the language of its reader."""
    return _TEMPLATES.get_template(template).render(_context(reads) | values)


def page_in_place(
    request: Request, locale: str | None, template: str, status: int, headers: Mapping[str, str], **values: object
) -> HTMLResponse:
    """A page on a workspace's origin, in the place of that workspace. Its script and style come from there too, and
    whatever it asks for goes there; a link to ourselves is a link like any other."""
    body = text(template, reading(request, locale), **values)
    policy = f"{_ALWAYS}script-src 'self'; connect-src 'self'; form-action 'self'"
    return HTMLResponse(body, status, {**_OF_FORMS, **headers, "Content-Security-Policy": policy})


def form_page(
    request: Request,
    template: str,
    status: int = 200,
    *,
    caller: Caller | None = None,
    also_to: str = "",
    **values: object,
) -> HTMLResponse:
    """A page with forms that go to ourselves. What answers one may lead on to `also_to`: some browsers hold that
    against the policy of the page that the form is on. Only who is logged in gets scripts: before, nothing is live."""
    reads = reading(request, caller.locale if caller is not None else None)
    frame = {
        "caller": caller,
        "csrf_token": parts_of(request).callers.csrf_token_of(request) if caller is not None else None,
        "here": local(here(request)) if request.method == "GET" else "/",
        "path": request.url.path,
    }
    body = text(template, reads, **(frame | values))
    policy = f"{_ALWAYS}{_SCRIPTS if caller is not None else ''}form-action 'self' {also_to}".rstrip()
    response = HTMLResponse(body, status, {**_OF_FORMS, "Content-Security-Policy": policy})
    if MESSAGE in request.cookies:
        response.delete_cookie(MESSAGE)
    return response


def fragment(request: Request, caller: Caller, template: str, status: int = 200, **values: object) -> HTMLResponse:
    """A part of a page, for the script that puts it in its place."""
    token = parts_of(request).callers.csrf_token_of(request)
    body = text(template, reading(request, caller.locale), caller=caller, csrf_token=token, **values)
    return HTMLResponse(body, status, _OF_FORMS)


def _context(reads: Reading) -> dict[str, Any]:
    return {
        "say": reads.language.say,
        "language": reads.language,
        "languages": LANGUAGES.values(),
        "theme": reads.theme,
        "themes": THEMES,
        "tell": reads.telling,
        "messages": reads.messages,
        "shortcuts": SHORTCUTS,
    }
