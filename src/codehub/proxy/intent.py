"""What a browser means by a request, as far as it says so."""

from codehub.decide.route import Visit
from codehub.proxy.doorkeeper import Asked

_OWN = frozenset({b"same-origin", b"none"})


def visit_of(asked: Asked) -> Visit:
    """Only a person who opens a page means that a workspace shall wake. Browsers name what they want a page for; on
    plain http they do not, and there the wish for HTML has to do."""
    if asked.method != b"GET" or asked.is_upgrade:
        return Visit.OTHER
    headers = asked.headers
    if b"prefetch" in headers.get(b"sec-purpose", headers.get(b"purpose", b"")).lower():
        return Visit.OTHER
    wanted_for = headers.get(b"sec-fetch-dest")
    if wanted_for is None:
        is_page = b"text/html" in headers.get(b"accept", b"").lower()
    else:
        is_page = wanted_for == b"document" and headers.get(b"sec-fetch-mode", b"navigate") == b"navigate"
    return Visit.NAVIGATION if is_page else Visit.OTHER


def is_foreign(asked: Asked, scheme: bytes) -> bool:
    """Whether a page of another origin makes this request, on behalf of whoever looks at it. Workspaces are of one
    site, so that browsers send their cookies along; only what is said here tells them apart. A link may be followed."""
    headers = asked.headers
    origin = headers.get(b"origin")
    if origin is not None:
        return origin.lower() != b"%b://%b" % (scheme, asked.host)
    if asked.is_upgrade:
        return True  # browsers always say it
    return headers.get(b"sec-fetch-site", b"none") not in _OWN and visit_of(asked) is not Visit.NAVIGATION


def comes_from_here(asked: Asked, scheme: bytes) -> bool:
    """For what changes something: the page says that it is of this very origin."""
    return asked.headers.get(b"origin", b"").lower() == b"%b://%b" % (scheme, asked.host)
