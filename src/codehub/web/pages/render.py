"""Pages from templates: everything that is put into them is escaped, and they need no script."""

from collections.abc import Mapping

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

_TEMPLATES = Environment(
    loader=PackageLoader("codehub.web.pages"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)

# With `no-referrer`, a browser says "null" for the origin of a form, and we could not tell it from a stranger's.
_OF_FORMS = {"Cache-Control": "no-store", "Referrer-Policy": "same-origin"}


def page_in_place(template: str, status: int, headers: Mapping[str, str], **values: object) -> HTMLResponse:
    """A page on a workspace's origin, in the place of that workspace. Its script and style come from there too, and
    whatever it asks for goes there; a link to ourselves is a link like any other."""
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        "base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
    )
    body = _TEMPLATES.get_template(template).render(values)
    return HTMLResponse(body, status, {**_OF_FORMS, **headers, "Content-Security-Policy": policy})


def form_page(template: str, status: int = 200, *, also_to: str = "", **values: object) -> HTMLResponse:
    """A page with a form that goes to ourselves. What answers it may lead on to `also_to`: some browsers hold that
    against the policy of the page that the form is on."""
    policy = (
        "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; "
        f"form-action 'self' {also_to}".rstrip()
    )
    body = _TEMPLATES.get_template(template).render(values)
    return HTMLResponse(body, status, {**_OF_FORMS, "Content-Security-Policy": policy})
