"""Errors as pages, for people who navigate; programs get a problem document for the same."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from codehub.web.pages.login import login_address
from codehub.web.pages.reading import here, is_fetched, reading
from codehub.web.pages.refusing import said
from codehub.web.pages.render import form_page
from codehub.web.problems import NotLoggedIn, Refused

DESCRIBED = frozenset({403, 404, 500, 503})


def is_for_a_person(request: Request) -> bool:
    """Whether a browser asks for a page. What the script of a page asks for is answered to the script."""
    wants_page = "text/html" in request.headers.get("accept", "") and not is_fetched(request)
    return wants_page and not request.url.path.startswith(("/api/", "/internal/", "/static/"))


def problem_page(request: Request, refusal: Refused) -> Response | None:
    """Without whoever is logged in: why it failed may be that nobody can tell who that is."""
    if not is_for_a_person(request):
        return None
    if isinstance(refusal, NotLoggedIn):
        return RedirectResponse(login_address(here(request) if request.method == "GET" else "/"), 303)
    language = reading(request).language
    status = refusal.status
    title = language.say(f"problem.{status if status in DESCRIBED else 'unknown'}")
    page = form_page(
        request, "problem.html", status, here="/", figure=status, title=title, text=said(refusal, language) or title
    )
    page.headers.update(refusal.headers or {})
    return page
