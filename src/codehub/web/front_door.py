"""What comes through the front door, which reaches this process over its own unix socket and nobody else does."""

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from codehub.model.accounts import INCLUDED, Caller, Proof, Role
from codehub.model.accounts import Scope as TokenScope
from codehub.web.hosts import FRONT_DOOR
from codehub.web.parts import parts_of
from codehub.web.problems import Missing

_USER = "SELECT login, max_running, locale FROM users WHERE id = $1 AND NOT disabled"


class BehindFrontDoor:
    """Believes what the front door says of a visitor: their address, and whether they use https. On its socket, and
    there alone: the front door removes what visitors themselves have written in its place."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _is_own_socket(scope):
            headers = Headers(scope=scope)
            scope[FRONT_DOOR] = True
            scope["scheme"] = headers.get("x-forwarded-proto", scope["scheme"])
            visitor = headers.get("x-forwarded-for", "unknown")
            scope["client"] = None if visitor == "unknown" else (visitor, 0)
        await self.app(scope, receive, send)


def _is_own_socket(scope: Scope) -> bool:
    server = scope.get("server")
    return server is not None and server[1] is None and server[0].startswith("/")


@dataclass(frozen=True, slots=True)
class Visited:
    """A visitor of a workspace, whom the front door knows, in the place of that workspace."""

    workspace_id: UUID
    caller: Caller
    """May do what concerns their own workspaces, and never more, whatever their role."""
    address: str
    """What they asked for there: a path, with its query."""
    is_unreachable: bool
    """Whether it should run, but does not answer."""


async def visited(request: Request, workspace_id: UUID) -> Visited:
    """Raises Missing for whoever does not come through the front door."""
    headers = request.headers
    if not request.scope.get(FRONT_DOOR) or "x-codehub-guest" not in headers:
        raise Missing("Not Found")
    user_id, proof_id = map(UUID, headers["x-codehub-guest"].split())
    row = await parts_of(request).reads.fetchrow(_USER, user_id)
    if row is None:
        raise Missing("Not Found")
    caller = Caller(
        user_id=user_id,
        login=row["login"],
        role=Role.USER,
        max_running=row["max_running"],
        locale=row["locale"],
        proof=Proof.SESSION,
        proof_id=proof_id,
        scopes=INCLUDED[TokenScope.WORKSPACES],
        expires_at=None,
    )
    return Visited(workspace_id, caller, headers["x-codehub-visited"], "x-codehub-unreachable" in headers)


Visitor = Annotated[Visited, Depends(visited)]
