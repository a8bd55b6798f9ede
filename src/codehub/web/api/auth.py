"""Logging in and out."""

import base64
import hashlib
import hmac
from typing import Any

from fastapi import APIRouter, Depends, Request, Response

from codehub.model.accounts import Proof, Role, Scope
from codehub.store import audit, login_codes, sessions, tokens
from codehub.web import cookies, logins
from codehub.web.account_problems import BadCode
from codehub.web.actors import actor_of, address_of, request_id_of
from codehub.web.api.account import shown
from codehub.web.api.private import never_kept
from codehub.web.api.refusals import BODY, refusals
from codehub.web.api.schemas.account import MadeToken
from codehub.web.api.schemas.auth import CodeAndVerifier, Credentials, Welcome
from codehub.web.callers import Reader, csrf_token
from codehub.web.parts import parts_of
from codehub.web.tokens import allowed, lasting, make

router = APIRouter(prefix="/auth", tags=["auth"], dependencies=[Depends(never_kept)])

FOR_ANYBODY: dict[str, Any] = {"security": []}
CLI_PURPOSE = "cli"
CLI_TOKEN_SECONDS = 90 * 86400


@router.post("/login", responses=refusals(*BODY, 401, 403, 429), openapi_extra=FOR_ANYBODY)
async def log_in(request: Request, response: Response, credentials: Credentials) -> Welcome:
    """Open a session. After some failed tries from one address each further one has to wait, longer each time."""
    parts = parts_of(request)
    parts.callers.refuse_foreign(request)
    logged_in = await logins.log_in(request, credentials.login, credentials.password)
    logged_in.put_into(response, parts)
    token = csrf_token(logged_in.secret)
    caller = await parts.callers.known_as(logged_in.secret, Proof.SESSION)
    return Welcome(user=shown(caller, token), csrf_token=token)


@router.post("/logout", status_code=204, responses=refusals(401, 403))
async def log_out(request: Request, response: Response, caller: Reader) -> None:
    """End the session, or revoke the token, that this request is made with."""
    parts = parts_of(request)
    async with parts.writes.begin() as connection:
        if caller.proof is Proof.SESSION:
            await sessions.end_session(connection, caller.user_id, caller.proof_id)
        else:
            await tokens.revoke_token(connection, caller.user_id, caller.proof_id)
        await audit.record(
            connection, actor_of(request, caller), "logout", subject_id=caller.proof_id, proof=caller.proof
        )
    parts.callers.forget()
    cookies.clear_session(response, parts.callers)


@router.post("/codes/exchange", responses=refusals(*BODY, 403, 409), openapi_extra=FOR_ANYBODY)
async def exchange_code(request: Request, sent: CodeAndVerifier) -> MadeToken:
    """Turn the code that `/cli-login` gave to a command line into a token. A code is good once, for 60 seconds,
    and only for whoever knows what its challenge was made of."""
    parts = parts_of(request)
    async with parts.writes.begin() as connection:
        redeemed = await login_codes.redeem(connection, sent.code, CLI_PURPOSE)
    if redeemed is None or not hmac.compare_digest(challenge_of(sent.verifier), redeemed.detail["challenge"]):
        raise BadCode
    actor = audit.Actor(redeemed.user_id, redeemed.login, address_of(request), request_id_of(request))
    scopes = allowed(frozenset(map(Scope, redeemed.detail["scopes"])), Role(redeemed.role))
    longest = lasting(None, parts.settings.auth) or CLI_TOKEN_SECONDS
    async with parts.writes.begin() as connection:
        row, secret = await make(connection, actor, redeemed.detail["name"], scopes, min(CLI_TOKEN_SECONDS, longest))
    return MadeToken(**row, token=secret)


def challenge_of(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
