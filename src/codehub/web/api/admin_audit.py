"""The audit log, for administrators."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from codehub.store import audit_reading
from codehub.web import paging
from codehub.web.api.private import never_kept
from codehub.web.api.refusals import refusals
from codehub.web.api.schemas.audit import AuditEntry, AuditFilter, AuditPage
from codehub.web.callers import Administrator
from codehub.web.parts import parts_of

router = APIRouter(prefix="/admin/audit", tags=["administration"], dependencies=[Depends(never_kept)])


@router.get("", responses=refusals(401, 403, 422))
async def list_audit_entries(
    request: Request, _caller: Administrator, narrowed: Annotated[AuditFilter, Query()]
) -> AuditPage:
    """Who did what, the newest first. Entries are never changed, and leave after `RETENTION_AUDIT_SECONDS`."""
    wanted = audit_reading.Wanted(
        narrowed.actor,
        narrowed.action,
        narrowed.subject_id,
        narrowed.since,
        narrowed.until,
        paging.number(narrowed.cursor),
    )
    async with parts_of(request).writes.connect() as connection:
        page, last = paging.cut(await audit_reading.read(connection, wanted, narrowed.limit + 1), narrowed.limit)
    following = paging.before(last["id"]) if last is not None else None
    return AuditPage(items=[AuditEntry(**entry) for entry in page], next=following)
