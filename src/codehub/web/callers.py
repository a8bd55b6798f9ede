"""Who makes a request, and whether they may: from the cookie or token that it carries.

A route says what it needs by the type of its caller: `caller: Reader`, `Holder`, `Worker`, `AccountHolder` or
`Administrator`."""

import asyncio
import hashlib
import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request

from codehub.clock import elapsed
from codehub.model.accounts import Caller, Proof, Scope
from codehub.settings.groups import AuthConfig
from codehub.store import callers as stored
from codehub.store.reads import Reads
from codehub.web.hosts import same_origin
from codehub.web.problems import ForeignOrigin, NotLoggedIn, ScopeMissing, SessionNeeded

TOKEN_PREFIX = "codehub_"  # noqa: S105 (what every token begins with)
CSRF_HEADER = "X-CSRF-Token"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
REMEMBERED = 10_000
"""How many callers a process remembers; each is a few hundred bytes."""


@dataclass
class Callers:
    """Knows callers by their secrets, each for `cache_seconds` at most; forgets all when somebody lost a right."""

    reads: Reads
    auth: AuthConfig
    public_url: str | None
    _known: dict[tuple[str, Proof], tuple[float, asyncio.Future[Caller | None]]] = field(default_factory=dict)

    @property
    def cookie_name(self) -> str:
        return "__Host-codehub" if self.secure else "codehub"

    @property
    def secure(self) -> bool:
        return self.public_url is not None and self.public_url.startswith("https:")

    def forget(self) -> None:
        """Somebody may do less than before: ask the database again about everybody."""
        self._known.clear()

    async def identify(self, request: Request) -> Caller:
        """Raises NotLoggedIn, or ForeignOrigin for a cookie that was not sent by one of our own pages."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and token:
            return await self.known_as(token.strip(), Proof.TOKEN)
        secret = request.cookies.get(self.cookie_name)
        if not secret:
            raise NotLoggedIn
        caller = await self.known_as(secret, Proof.SESSION)
        if request.method not in SAFE_METHODS:
            self._refuse_forged(request, secret, request.headers.get(CSRF_HEADER, ""))
        return caller

    async def identify_form(self, request: Request, sent_token: str) -> Caller:
        """Whose form this is, which brings the session's token as a field. Raises as `identify` does."""
        secret = request.cookies.get(self.cookie_name, "")
        caller = await self.known_as(secret, Proof.SESSION)
        self._refuse_forged(request, secret, sent_token)
        return caller

    def csrf_token_of(self, request: Request) -> str | None:
        """What a page of this session has to send with what it changes; None where no cookie proves anything."""
        secret = request.cookies.get(self.cookie_name)
        return csrf_token(secret) if secret and "authorization" not in request.headers else None

    def refuse_foreign(self, request: Request) -> None:
        """A browser says where an unsafe request comes from; one from another site is not its user's will."""
        if request.headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
            raise ForeignOrigin("This request comes from a page of another site.")
        origin = request.headers.get("origin")
        if origin is not None and not self._is_ours(origin, request):
            raise ForeignOrigin("This request comes from a page of another origin.")

    def _is_ours(self, origin: str, request: Request) -> bool:
        if self.public_url is not None and same_origin(origin, self.public_url):
            return True
        return urlsplit(origin).netloc == request.headers.get("host") and not self.secure

    def _refuse_forged(self, request: Request, secret: str, sent_token: str) -> None:
        self.refuse_foreign(request)
        if not hmac.compare_digest(sent_token.encode(), csrf_token(secret).encode()):
            raise ForeignOrigin(f"Send the session's token in {CSRF_HEADER}; GET /api/v1/me tells it.")

    async def known_as(self, secret: str, proof: Proof) -> Caller:
        """Whose secret this is. Raises NotLoggedIn."""
        shown = (secret, proof)
        at, asking = self._known.get(shown, (0.0, None))
        if asking is None or elapsed() - at > self.auth.cache_seconds:
            asking = asyncio.ensure_future(self._look_up(secret, proof))
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[shown] = (elapsed(), asking)
        try:
            # several requests wait for one look; one that leaves ends it for none
            caller = asking.result() if asking.done() else await asyncio.shield(asking)
        except Exception:
            self._known.pop(shown, None)
            raise
        if caller is None:
            raise NotLoggedIn
        return caller

    async def _look_up(self, secret: str, proof: Proof) -> Caller | None:
        if proof is Proof.TOKEN:
            return await stored.by_token(self.reads, secret) if secret.startswith(TOKEN_PREFIX) else None
        return await stored.by_session(
            self.reads, secret, self.auth.session_idle_seconds, self.auth.session_max_seconds
        )


def csrf_token(secret: str) -> str:
    """Belongs to one session and cannot be told from outside of it; a page of another origin never sees it."""
    return hashlib.sha256(f"csrf:{secret}".encode()).hexdigest()


def _may(scope: Scope, refusal: str) -> Callable[[Request], Awaitable[Caller]]:
    async def identified(request: Request) -> Caller:
        callers: Callers = request.app.state.callers
        caller = await callers.identify(request)
        if scope not in caller.scopes or (scope is Scope.ADMIN and not caller.administers):
            raise ScopeMissing(refusal)
        return caller

    return identified


async def _account_holder(request: Request) -> Caller:
    callers: Callers = request.app.state.callers
    caller = await callers.identify(request)
    if caller.proof is not Proof.SESSION:
        raise SessionNeeded("A token cannot do this: log in with your password.")
    return caller


reader = _may(Scope.READ, "This token may not read.")
Reader = Annotated[Caller, Depends(reader)]
Holder = Annotated[Caller, Depends(_may(Scope.HOLD, "This token may not keep workspaces awake."))]
Worker = Annotated[Caller, Depends(_may(Scope.WORKSPACES, "This token may only read."))]
Administrator = Annotated[Caller, Depends(_may(Scope.ADMIN, "Only an administrator may do this."))]
AccountHolder = Annotated[Caller, Depends(_account_holder)]
"""Passwords, tokens and sessions are changed by a person who has logged in, never by a token: one that was stolen must
not be able to make itself at home."""
