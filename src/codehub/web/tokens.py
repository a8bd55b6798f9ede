"""Making API tokens: asked for in the API, or by a browser on behalf of a command line."""

import secrets

from sqlalchemy import RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.model.accounts import Role, Scope
from codehub.settings.groups import AuthConfig
from codehub.store import audit, tokens
from codehub.web.account_problems import TokenLastsTooLong, TooManyTokens
from codehub.web.callers import TOKEN_PREFIX
from codehub.web.problems import ScopeMissing


def lasting(asked: int | None, auth: AuthConfig) -> int | None:
    """How long a token lasts that is to last so long; None for ever. Raises TokenLastsTooLong."""
    ceiling = auth.token_max_seconds or None
    if asked is None:
        return ceiling
    if ceiling is not None and asked > ceiling:
        raise TokenLastsTooLong(f"A token may last {ceiling} seconds at most.", max_seconds=ceiling)
    return asked


def allowed(scopes: frozenset[Scope], role: Role) -> frozenset[Scope]:
    """Raises ScopeMissing where somebody asks for more than they may do themselves."""
    if Scope.ADMIN in scopes and role is not Role.ADMIN:
        raise ScopeMissing("Only an administrator's token can have the scope admin.")
    return scopes


async def make(
    connection: AsyncConnection, actor: audit.Actor, name: str, scopes: frozenset[Scope], lasts_seconds: int | None
) -> tuple[RowMapping, str]:
    """The row and the secret. Raises TooManyTokens."""
    if actor.user_id is None:
        raise ValueError("a token needs an account")
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    row = await tokens.make_token(connection, tokens.NewToken(actor.user_id, secret, name, scopes, lasts_seconds))
    if row is None:
        raise TooManyTokens(f"An account can have {tokens.MOST} tokens. Revoke some that are no longer needed.")
    detail = {"scopes": sorted(scopes), "lasts_seconds": lasts_seconds}
    await audit.record(connection, actor, "token.create", subject_id=row["id"], subject=name, **detail)
    return row, secret
