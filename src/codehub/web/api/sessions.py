"""One's own browser sessions."""

from uuid import UUID

from fastapi import APIRouter, Depends, Request

from codehub.store import audit, sessions
from codehub.web.actors import actor_of
from codehub.web.api.private import never_kept
from codehub.web.api.refusals import refusals
from codehub.web.api.schemas.account import Session, Sessions, SessionsEnded
from codehub.web.callers import AccountHolder
from codehub.web.parts import parts_of
from codehub.web.problems import Missing

router = APIRouter(prefix="/sessions", tags=["account"], dependencies=[Depends(never_kept)])


@router.get("", responses=refusals(401, 403))
async def list_sessions(request: Request, caller: AccountHolder) -> Sessions:
    """Where one is logged in."""
    async with parts_of(request).writes.connect() as connection:
        rows = await sessions.list_sessions(connection, caller.user_id)
    return Sessions(items=[Session(**row, current=row["id"] == caller.proof_id) for row in rows])


@router.delete("/{session_id}", status_code=204, responses=refusals(401, 403, 404, 422))
async def end_session(request: Request, session_id: UUID, caller: AccountHolder) -> None:
    """Log that browser out; within a second, wherever it is."""
    parts = parts_of(request)
    async with parts.writes.begin() as connection:
        if not await sessions.end_session(connection, caller.user_id, session_id):
            raise Missing("There is no such session.")
        await audit.record(connection, actor_of(request, caller), "session.end", subject_id=session_id)
    parts.callers.forget()


@router.delete("", responses=refusals(401, 403))
async def end_other_sessions(request: Request, caller: AccountHolder) -> SessionsEnded:
    """Log out everywhere but here."""
    parts = parts_of(request)
    async with parts.writes.begin() as connection:
        ended = await sessions.end_all(connection, caller.user_id, but=caller.proof_id)
        await audit.record(connection, actor_of(request, caller), "session.end_others", ended=ended)
    parts.callers.forget()
    return SessionsEnded(ended=ended)
