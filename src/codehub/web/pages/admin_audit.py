"""The audit log, for administrators: narrowed by who, what and when, page by page."""

from datetime import UTC, date, datetime, time, timedelta
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import Response

from codehub.web.api.admin_audit import list_audit_entries
from codehub.web.api.schemas.audit import AuditFilter
from codehub.web.pages.administration import administrator, cursor_in, page, text_in
from codehub.web.pages.reading import reading
from codehub.web.pages.telling import Telling

router = APIRouter(prefix="/admin/audit", include_in_schema=False)

LISTED = 50
FIELDS = ("actor", "action", "since", "until")
KINDS = ("login", "user", "workspace", "archive", "hold", "template", "token", "session", "password", "gc")
"""The first words of what is done."""


@router.get("")
async def show_audit(request: Request) -> Response:
    """Days are the reader's own, both included. A day that is none is left out."""
    caller, query = await administrator(request), request.query_params
    telling = reading(request, caller.locale).telling
    said = {name: text_in(query, name) for name in FIELDS}
    narrowed = AuditFilter(
        actor=said["actor"],
        action=said["action"],
        since=_day(said["since"], telling),
        until=_day(said["until"], telling, later=1),
        cursor=cursor_in(query),
        limit=LISTED,
    )
    found = await list_audit_entries(request, caller, narrowed)
    older = f"/admin/audit?{urlencode({**said, 'cursor': found.next})}" if found.next is not None else ""
    is_first = narrowed.cursor is None
    return page(request, caller, "audit", found=found, said=said, older=older, is_first=is_first, kinds=KINDS)


def _day(text: str, telling: Telling, later: int = 0) -> datetime | None:
    """The moment in which a day begins, or one that is so many days later."""
    try:
        day = date.fromisoformat(text) + timedelta(days=later)
    except (ValueError, OverflowError):
        return None
    return datetime.combine(day, time(), telling.zone or UTC)
