"""Pages from templates: everything that is put into them is escaped, and they need no script."""

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

_TEMPLATES = Environment(
    loader=PackageLoader("codehub.web.pages"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)

# With `no-referrer`, a browser says "null" for the origin of a form, and we could not tell it from a stranger's.
_OF_FORMS = {"Cache-Control": "no-store", "Referrer-Policy": "same-origin"}


def form_page(template: str, status: int = 200, *, also_to: str = "", **values: object) -> HTMLResponse:
    """A page with a form that goes to ourselves. What answers it may lead on to `also_to`: some browsers hold that
    against the policy of the page that the form is on."""
    policy = (
        "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; "
        f"form-action 'self' {also_to}".rstrip()
    )
    body = _TEMPLATES.get_template(template).render(values)
    return HTMLResponse(body, status, {**_OF_FORMS, "Content-Security-Policy": policy})
