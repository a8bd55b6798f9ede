"""Workspaces as answers: written straight from what was read, because these are most of what is asked for."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import orjson
from fastapi import Response

from codehub.decide.show import show
from codehub.model.shown import ShownWorkspace
from codehub.settings.idle_times import idle_policy
from codehub.web.etags import etag
from codehub.web.parts import Parts

NOT_STORED = {"Cache-Control": "no-store"}


def answer(content: object, status: int = 200, headers: Mapping[str, str] = NOT_STORED) -> Response:
    return Response(orjson.dumps(content, default=_plain), status, headers, "application/json")


def _plain(value: object) -> str:
    """The driver's own kind of UUID, which orjson does not know."""
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"{type(value)} is no part of an answer")


async def one_workspace(
    parts: Parts, workspace: ShownWorkspace, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """With its version, for whoever wants to change it."""
    live = await parts.notes.about((workspace,))
    shown = show(workspace, live.get(workspace.id), idle_policy(parts.settings))
    return answer(shown, status, {**NOT_STORED, "ETag": etag(workspace.revision), **(headers or {})})


async def page_of_workspaces(parts: Parts, workspaces: Sequence[ShownWorkspace], following: str | None) -> Response:
    policy, live = idle_policy(parts.settings), await parts.notes.about(workspaces)
    return answer({"items": [show(each, live.get(each.id), policy) for each in workspaces], "next": following})
