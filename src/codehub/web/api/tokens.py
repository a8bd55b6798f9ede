"""One's own API tokens."""

from uuid import UUID

from fastapi import APIRouter, Depends, Request

from codehub.store import audit, tokens
from codehub.web.actors import actor_of
from codehub.web.api.private import never_kept
from codehub.web.api.refusals import BODY, refusals
from codehub.web.api.schemas.account import MadeToken, NewToken, Token, Tokens
from codehub.web.callers import AccountHolder
from codehub.web.parts import parts_of
from codehub.web.problems import Missing
from codehub.web.tokens import allowed, lasting, make

router = APIRouter(prefix="/tokens", tags=["account"], dependencies=[Depends(never_kept)])


@router.get("", responses=refusals(401, 403))
async def list_tokens(request: Request, caller: AccountHolder) -> Tokens:
    """The tokens of one's programs, without their secrets."""
    async with parts_of(request).writes.connect() as connection:
        rows = await tokens.list_tokens(connection, caller.user_id)
    return Tokens(items=[Token(**row) for row in rows])


@router.post("", status_code=201, responses=refusals(*BODY, 401, 403, 409))
async def create_token(request: Request, new: NewToken, caller: AccountHolder) -> MadeToken:
    """A token for a program. Its secret is in this answer and nowhere else."""
    parts = parts_of(request)
    scopes = allowed(frozenset(new.scopes), caller.role)
    seconds = lasting(new.expires_in_seconds, parts.settings.auth)
    async with parts.writes.begin() as connection:
        row, secret = await make(connection, actor_of(request, caller), new.name, scopes, seconds)
    return MadeToken(**row, token=secret)


@router.delete("/{token_id}", status_code=204, responses=refusals(401, 403, 404, 422))
async def revoke_token(request: Request, token_id: UUID, caller: AccountHolder) -> None:
    """From within a second on, whoever sends it is nobody."""
    parts = parts_of(request)
    async with parts.writes.begin() as connection:
        name = await tokens.revoke_token(connection, caller.user_id, token_id)
        if name is None:
            raise Missing("There is no such token.")
        await audit.record(connection, actor_of(request, caller), "token.revoke", subject_id=token_id, subject=name)
    parts.callers.forget()
