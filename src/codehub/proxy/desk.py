"""What we serve ourselves on a workspace's origin, below `/.codehub/`: the waking page and what it needs.

All of it is rendered by the API, and all that can be done with it is to wake or extend this one workspace: a script of
the workspace may drive any page of its origin (contract 13)."""

import re

from codehub.decide.origins import Origins
from codehub.model.activity import Kind
from codehub.proxy import replies
from codehub.proxy.api_sockets import ApiSockets
from codehub.proxy.doorkeeper import Asked, Decision, ToApi
from codehub.proxy.guests import Guest
from codehub.proxy.intent import comes_from_here, is_foreign
from codehub.proxy.places import OURS, At
from codehub.proxy.routes import Routes
from codehub.proxy.signs import Signs

_STATIC = re.compile(rb"static/[a-z0-9_-]+\.(?:css|js)")
_SERVED = {(b"GET", b""): b"clock", (b"GET", b"events"): b"events", (b"POST", b"wake"): b"wake"}
"""By method and path: what the API calls it."""
_EXTEND = (b"POST", b"extend")


class Desk:
    def __init__(self, origins: Origins, api: ApiSockets, routes: Routes, signs: Signs) -> None:
        self._scheme = origins.scheme.encode()
        self._api = api
        self._routes = routes
        self._signs = signs

    def to_api(self, target: bytes, headers: bytes = b"") -> ToApi | None:
        """None while no process of the API is known to answer."""
        upstream = self._api.any()
        return ToApi(upstream, target, headers) if upstream is not None else None

    def page(self, at: At, guest: Guest, *, is_doubted: bool = False) -> ToApi | None:
        """Instead of the workspace: what is with it, for the person who wants to open it."""
        return self._internal(at, guest, b"page", b"X-Codehub-Unreachable: yes\r\n" if is_doubted else b"")

    async def serve(self, asked: Asked, at: At, guest: Guest | None) -> Decision | None:
        wanted = at.inside[len(OURS) :].partition(b"?")[0]
        if asked.method == b"GET" and _STATIC.fullmatch(wanted):
            return self.to_api(b"/" + wanted)
        called = _SERVED.get((asked.method, wanted))
        if (called is None and (asked.method, wanted) != _EXTEND) or asked.is_upgrade:
            return replies.not_found(asked)
        if guest is None or guest.workspace_id not in (None, at.workspace_id):
            return replies.not_logged_in(asked)
        if not guest.may_enter:
            return replies.not_allowed(asked)
        if self._is_foreign(asked):
            return replies.foreign(asked)
        return await self._extend(asked, at, guest) if called is None else self._internal(at, guest, called)

    def _is_foreign(self, asked: Asked) -> bool:
        if asked.token is not None:
            return False
        return not comes_from_here(asked, self._scheme) if asked.method == b"POST" else is_foreign(asked, self._scheme)

    def _internal(self, at: At, guest: Guest, what: bytes, headers: bytes = b"") -> ToApi | None:
        """The API is told who it is: it does not read again what was read here."""
        target = b"/internal/workspaces/%b/%b" % (str(at.workspace_id).encode(), what)
        told = f"X-Codehub-Guest: {guest.user_id} {guest.proof_id}\r\nX-Codehub-Visited: ".encode()
        return self.to_api(target, b"%b%b%b\r\n%b" % (told, at.mount, at.inside, headers))

    async def _extend(self, asked: Asked, at: At, guest: Guest) -> Decision:
        """Keep it awake for another idle time: somebody said so, which is as much as typing."""
        found = await self._routes.find_out(at.workspace_id)
        if found is None or found.routed.workspace.owner_user_id != guest.user_id:
            return replies.not_found(asked)
        if found.upstream is None:
            return replies.asleep(asked)
        self._signs.record(at.workspace_id, Kind.EXTENSION)
        if b"text/html" in asked.headers.get(b"accept", b""):
            return replies.redirect(asked, f"{at.mount.decode()}{OURS.decode()}")
        return replies.reply(asked, 204)
