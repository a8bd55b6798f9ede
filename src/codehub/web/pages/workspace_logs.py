"""What a workspace prints, on its page: the last lines with what is looked for marked, and all of it as a file."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from codehub.model.accounts import Caller
from codehub.web.api.workspace_logs import MOST_LINES, get_workspace_logs
from codehub.web.api.workspace_problems import NotRunning, RuntimeUnavailable
from codehub.web.pages.reading import person, reading
from codehub.web.pages.refusing import said
from codehub.web.problems import Refused

router = APIRouter(prefix="/workspaces/{workspace_id}", include_in_schema=False)

SHOWN_LINES = 200
PATIENCE_SECONDS = 2.0
"""A page does not wait longer for a runtime: its script asks again."""
_ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-_])|\r")
"""What colours a terminal and moves its cursor."""


@dataclass(frozen=True, slots=True)
class Log:
    lines: Sequence[Sequence[str]]
    """Each in pieces, of which every second one is what was looked for."""
    why_none: str


async def log_of(request: Request, caller: Caller, workspace_id: UUID, find: str) -> Log:
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            answer = await get_workspace_logs(request, workspace_id, caller, SHOWN_LINES)
    except TimeoutError:
        return Log((), _said(request, caller, RuntimeUnavailable()))
    except Refused as refusal:
        return Log((), _said(request, caller, refusal))
    lines = _ESCAPES.sub("", bytes(answer.body).decode(errors="replace")).splitlines()
    sought = re.compile(f"({re.escape(find)})", re.IGNORECASE) if find else None
    return Log([sought.split(line) if sought else [line] for line in lines if not sought or sought.search(line)], "")


def _said(request: Request, caller: Caller, refusal: Refused) -> str:
    language = reading(request, caller.locale).language
    return language.say("logs.asleep") if isinstance(refusal, NotRunning) else said(refusal, language)


@router.get("/log.txt")
async def download_log(request: Request, workspace_id: UUID) -> Response:
    """As it was printed, with its colours."""
    answer = await get_workspace_logs(request, workspace_id, await person(request), MOST_LINES)
    answer.headers["Content-Disposition"] = f'attachment; filename="{workspace_id}.log"'
    return answer
