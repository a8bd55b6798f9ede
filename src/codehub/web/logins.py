"""Logging in with a password, and proving it again: for the API and for the login page alike."""

import ipaddress
import secrets
from dataclasses import dataclass, field
from typing import assert_never
from uuid import UUID

from fastapi import Request, Response
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.store import audit, logins, sessions, users
from codehub.store.passwords import Verdict
from codehub.web import cookies
from codehub.web.account_problems import AccountDisabled, TooManyAttempts, WrongCredentials
from codehub.web.actors import address_of, nobody, request_id_of
from codehub.web.parts import Parts, parts_of

USER_AGENT_LENGTH = 300


@dataclass(frozen=True, slots=True)
class LoggedIn:
    user: users.Known
    secret: str = field(repr=False)

    def put_into(self, response: Response, parts: Parts) -> None:
        cookies.set_session(response, parts.callers, self.secret)
        cookies.set_device(response, parts.callers, self.user.id, self.user.password_hash)


async def log_in(request: Request, login: str, password: str) -> LoggedIn:
    """A new session, whatever the browser carried before. Raises WrongCredentials, AccountDisabled, TooManyAttempts."""
    parts = parts_of(request)
    async with parts.writes.connect() as connection:
        user = await users.by_login(connection, login)
    checked = await check(request, login, user, password)
    if not checked.matches or user is None:
        raise WrongCredentials
    if user.disabled:
        raise AccountDisabled
    async with parts.writes.begin() as connection:
        if await users.logged_in(connection, user, checked.newer_hash):
            await sessions.end_by_secret(connection, request.cookies.get(parts.callers.cookie_name, ""))
            secret = await open_session(request, user.id, connection)
            actor = audit.Actor(user.id, user.login, address_of(request), request_id_of(request))
            await audit.record(connection, actor, "login.succeeded", subject_id=user.id, subject=user.login)
            now = users.Known(user.id, user.login, checked.newer_hash or user.password_hash, user.disabled)
            return LoggedIn(now, secret)
    # The account changed meanwhile: perhaps only its hash, renewed by a login beside this one with the same password.
    return await log_in(request, login, password)


async def check(request: Request, login: str, user: users.Known | None, password: str) -> Verdict:
    """Whether this is the account's password. Every try counts, and too many have to wait; an account that does not
    exist takes the same path and the same time. Raises TooManyAttempts."""
    parts = parts_of(request)
    source = _source(request, parts, user)
    async with parts.writes.begin() as connection:
        attempt = await logins.begin(connection, login, source, parts.settings.auth)
    match attempt:
        case logins.Wait(seconds):
            raise TooManyAttempts(seconds)
        case logins.Attempt():
            verdict = await parts.passwords.check(user.password_hash if user else None, password)
        case _:
            assert_never(attempt)
    async with parts.writes.begin() as connection:
        await logins.end(connection, attempt, succeeded=verdict.matches)
        if not verdict.matches:
            # What nobody is called may be a password that was typed into the wrong field: it is not written down.
            actor = nobody(request, user.login if user else "unknown")
            await audit.record(connection, actor, "login.failed", subject_id=user.id if user else None)
    return verdict


async def open_session(request: Request, user_id: UUID, connection: AsyncConnection) -> str:
    """The secret of a new session of this browser."""
    secret = secrets.token_urlsafe(32)
    agent = "".join(filter(str.isprintable, request.headers.get("user-agent", "")[:USER_AGENT_LENGTH]))
    new = sessions.NewSession(user_id, secret, address_of(request), agent)
    await sessions.open_session(connection, new, parts_of(request).settings.auth)
    return secret


def _source(request: Request, parts: Parts, user: users.Known | None) -> logins.Source:
    if user is not None and (device := cookies.device_of(request, parts.callers, user.id, user.password_hash)):
        return logins.Source(f"device {device}", is_device=True)
    return logins.Source(_counted(address_of(request)), is_device=False)


def _counted(address: str) -> str:
    """IPv6 by its first half: whoever has one such address has all 2^64 beside it."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network((parsed, 64), strict=False)) if parsed.version == 6 else address
