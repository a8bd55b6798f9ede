"""One's own account: who am I, password, language. Sessions and tokens are beside it."""

from fastapi import APIRouter, Depends, Request, Response

from codehub.decide.password import weakness
from codehub.model.accounts import Caller, Proof
from codehub.store import audit, login_codes, sessions, tokens, users
from codehub.web import cookies, logins
from codehub.web.account_problems import WeakPassword, WrongPassword
from codehub.web.actors import actor_of
from codehub.web.api.private import never_kept
from codehub.web.api.refusals import BODY, refusals
from codehub.web.api.schemas.account import Me, MyChanges, NewPassword, PasswordChanged
from codehub.web.callers import AccountHolder, Reader, csrf_token
from codehub.web.parts import parts_of
from codehub.web.problems import NotLoggedIn

router = APIRouter(prefix="/me", tags=["account"], dependencies=[Depends(never_kept)])


@router.get("", responses=refusals(401, 403))
async def get_me(request: Request, caller: Reader) -> Me:
    """Who is calling, and what they may do."""
    return shown(caller, parts_of(request).callers.csrf_token_of(request))


@router.patch("", responses=refusals(*BODY, 401, 403))
async def change_me(request: Request, changes: MyChanges, caller: AccountHolder) -> Me:
    """Change what one may change about oneself."""
    parts = parts_of(request)
    async with parts.writes.begin() as connection:
        await users.change_user(connection, caller.user_id, {"locale": changes.locale})
    parts.callers.forget()
    return await get_me(request, await parts.callers.identify(request))


@router.post("/password", responses=refusals(*BODY, 401, 403, 429))
async def change_password(
    request: Request, response: Response, sent: NewPassword, caller: AccountHolder
) -> PasswordChanged:
    """Change one's password. All other sessions end, and this one is replaced; API tokens stay unless it is asked."""
    parts = parts_of(request)
    if (wrong := weakness(sent.new, caller.login)) is not None:
        raise WeakPassword(wrong)
    async with parts.writes.connect() as connection:
        user = await users.known(connection, caller.user_id)
    if user is None:
        raise NotLoggedIn
    if not (await logins.check(request, user.login, user, sent.present)).matches:
        raise WrongPassword
    newer = await parts.passwords.hash(sent.new)
    async with parts.writes.begin() as connection:
        if not await users.change_password(connection, user.id, newer, present=user.password_hash):
            raise WrongPassword
        ended = await sessions.end_all(connection, user.id)
        revoked = await tokens.revoke_all(connection, user.id) if sent.revoke_tokens else 0
        await login_codes.withdraw_codes(connection, user.id)
        secret = await logins.open_session(request, user.id, connection)
        actor = actor_of(request, caller)
        await audit.record(connection, actor, "password.change", subject_id=user.id, subject=user.login, tokens=revoked)
    parts.callers.forget()
    cookies.set_session(response, parts.callers, secret)
    cookies.set_device(response, parts.callers, user.id, newer)
    return PasswordChanged(csrf_token=csrf_token(secret), sessions_ended=max(0, ended - 1), tokens_revoked=revoked)


def shown(caller: Caller, csrf_token: str | None) -> Me:
    return Me(
        id=caller.user_id,
        login=caller.login,
        role=caller.role,
        max_running=caller.max_running,
        locale=caller.locale,
        proof=caller.proof,
        scopes=sorted(caller.scopes),
        expires_at=caller.expires_at,
        csrf_token=csrf_token if caller.proof is Proof.SESSION else None,
    )
