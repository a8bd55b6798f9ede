"""Which names codehub answers to.

A page on a name that its owner points at our address for a moment (DNS rebinding) would be of our own origin for the
browser: only its Host tells that it is not."""

import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from codehub.web.problems import problem

FRONT_DOOR = "codehub.front_door"
"""In the scope of a request that came over the socket of the front door (`front_door.py`)."""
IN_PLACE = ("/internal/", "/static/")
"""What the front door asks for on a workspace's behalf, by that workspace's name: it has read that already."""
FOR_MACHINES = ("/healthz", "/readyz", "/health/", "/metrics")
"""Asked for by load balancers, which call us as they like; nothing there depends on a cookie."""
DEFAULT_PORTS = {"http": 80, "https": 443}


class KnownHosts:
    """Refuses requests for any other name than that of `public_url`. This machine itself, and plain addresses, which
    nobody can point elsewhere, stay welcome."""

    def __init__(self, app: ASGIApp, public_url: str) -> None:
        self.app = app
        self._host = urlsplit(public_url).hostname

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(FOR_MACHINES):
            return await self.app(scope, receive, send)
        if scope.get(FRONT_DOOR) and scope["path"].startswith(IN_PLACE):
            return await self.app(scope, receive, send)
        host = _name(Headers(scope=scope).get("host", ""))
        if host in {self._host, "localhost"} or _is_address(host):
            return await self.app(scope, receive, send)
        refused = problem(421, code="unknown_host", detail="This is not the address of this codehub.")
        return await refused(scope, receive, send)


def same_origin(one: str, other: str) -> bool:
    """Whether two URLs are of one origin, however they are written."""
    try:
        return _origin(one) == _origin(other)
    except ValueError:  # a port that is no number
        return False


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or DEFAULT_PORTS.get(parts.scheme)


def _name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
