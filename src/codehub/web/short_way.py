"""The question that is asked more often than all others together, without what finds and prepares a route.

Whoever waits for a workspace asks for it again and again. Routing and preparing cost as much as the answer itself, so
this one goes straight to the function that the route names. Whatever is unusual about a request takes the long way."""

import re
from uuid import UUID

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from codehub.store.away import FOREIGN
from codehub.web.api.workspaces import get_workspace
from codehub.web.callers import reader
from codehub.web.problems import Refused, refusal

_ASKS_FOR_ONE = re.compile(r"/api/v1/workspaces/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")


class _Route:
    """Counted under the same name as by the long way."""

    path = "/api/v1/workspaces/{workspace_id}"


class ShortWay:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = None
        if scope["type"] == "http" and scope["method"] == "GET" and not scope["query_string"]:
            asked = _ASKS_FOR_ONE.fullmatch(scope["path"])
        if asked is None:
            return await self.app(scope, receive, send)
        request = Request(scope, receive)
        workspace_id = UUID(asked[1])
        scope["route"], scope["path_params"] = _Route, {"workspace_id": workspace_id}
        try:
            response = await get_workspace(request, workspace_id, await reader(request))
        except (Refused, *FOREIGN) as error:
            response = refusal(error)
        return await response(scope, receive, send)
