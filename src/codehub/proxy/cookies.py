"""The two cookies on a workspace's origin: the right to visit it, and the mark of a browser that is about to get it.

Both are good for one workspace, and for nothing on any other origin. Where each workspace has its own origin and https,
`__Host-` keeps the pages of other origins from setting them."""

import re

from codehub.decide.origins import Origins
from codehub.proxy.doorkeeper import Asked
from codehub.proxy.places import At

_SECRET = re.compile(rb"[A-Za-z0-9_-]{43}")
MOST = 4
"""Values of one name that are looked at: pages of other subdomains can put theirs beside ours."""
ENTERING_SECONDS = 600


class Cookies:
    def __init__(self, origins: Origins) -> None:
        self._secure = origins.is_secure
        self.visit = f"{origins.cookie_prefix}codehub-visit"
        self.entering = f"{origins.cookie_prefix}codehub-entering"
        self._visit, self._entering = self.visit.encode(), self.entering.encode()

    def visits(self, asked: Asked) -> list[bytes]:
        return self._values(asked, self._visit)

    def enterings(self, asked: Asked) -> list[bytes]:
        return self._values(asked, self._entering)

    def set_visit(self, at: At, secret: str, seconds: int) -> str:
        return self._set(at, self.visit, secret, seconds)

    def set_entering(self, at: At, secret: str) -> str:
        return self._set(at, self.entering, secret, ENTERING_SECONDS)

    def _values(self, asked: Asked, name: bytes) -> list[bytes]:
        found = [value for each, value in asked.cookies if each == name and _SECRET.fullmatch(value)]
        return found[:MOST]

    def _set(self, at: At, name: str, value: str, seconds: int) -> str:
        secure = "; Secure" if self._secure else ""
        path = f"{at.mount.decode()}/"
        return f"Set-Cookie: {name}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"
