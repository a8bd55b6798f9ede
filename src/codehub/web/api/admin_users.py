"""Accounts, for administrators."""

import secrets
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.decide.password import weakness
from codehub.model.accounts import Role
from codehub.store import audit, login_codes, sessions, tokens, users
from codehub.web import paging
from codehub.web.account_problems import LastAdministrator, LoginTaken, WeakPassword, WorkspacesRemain
from codehub.web.actors import actor_of
from codehub.web.api.private import never_kept
from codehub.web.api.refusals import BODY, refusals
from codehub.web.api.schemas.account import SessionsEnded
from codehub.web.api.schemas.users import (
    MadeUser,
    NewUser,
    PasswordReset,
    ResetPassword,
    User,
    UserChanges,
    UserFilter,
    UserPage,
)
from codehub.web.callers import Administrator
from codehub.web.parts import Parts, parts_of
from codehub.web.problems import Missing

router = APIRouter(prefix="/admin/users", tags=["administration"], dependencies=[Depends(never_kept)])


@router.get("", responses=refusals(401, 403, 422))
async def list_users(request: Request, _caller: Administrator, narrowed: Annotated[UserFilter, Query()]) -> UserPage:
    """All accounts, by login."""
    wanted = users.Wanted(narrowed.q, narrowed.role, narrowed.disabled, paging.name_position(narrowed.cursor))
    async with parts_of(request).writes.connect() as connection:
        page, last = paging.cut(await users.list_users(connection, wanted, narrowed.limit + 1), narrowed.limit)
    following = paging.after_name(last.login.lower(), last.id) if last is not None else None
    return UserPage(items=[_shown(user) for user in page], next=following)


@router.post("", status_code=201, responses=refusals(*BODY, 401, 403, 409))
async def create_user(request: Request, response: Response, new: NewUser, caller: Administrator) -> MadeUser:
    """A new account. Without a password one is generated; it is in this answer and nowhere else."""
    parts = parts_of(request)
    password = new.password or secrets.token_urlsafe(18)
    password_hash = await _hashed(parts, password, new.login)
    made = users.NewUser(new.login, password_hash, new.role, new.max_running, new.locale)
    async with parts.writes.begin() as connection:
        try:
            user_id = await users.create_user(connection, made)
        except users.LoginTakenError:
            raise LoginTaken(f"There is already an account {new.login}.") from None
        actor = actor_of(request, caller)
        await audit.record(connection, actor, "user.create", subject_id=user_id, subject=new.login, role=new.role)
        user = await _found(connection, user_id)
    response.headers["Location"] = f"{request.url.path}/{user_id}"
    return MadeUser(user=_shown(user), password=None if new.password else password)


@router.get("/{user_id}", responses=refusals(401, 403, 404, 422))
async def get_user(request: Request, user_id: UUID, _caller: Administrator) -> User:
    """One account."""
    async with parts_of(request).writes.connect() as connection:
        return _shown(await _found(connection, user_id))


@router.patch("/{user_id}", responses=refusals(*BODY, 401, 403, 404, 409))
async def change_user(request: Request, user_id: UUID, sent: UserChanges, caller: Administrator) -> User:
    """Change an account. The last administrator stays one."""
    parts = parts_of(request)
    changes = sent.model_dump(exclude_unset=True)
    async with parts.writes.begin() as connection:
        administrators = await users.lock_administrators(connection)
        before = await _found(connection, user_id)
        changes = {name: value for name, value in changes.items() if getattr(before, name) != value}
        if (changes.get("disabled") or changes.get("role") is Role.USER) and administrators == {user_id}:
            raise LastAdministrator
        if changes:
            await _change(connection, before, changes)
            actor = actor_of(request, caller)
            await audit.record(
                connection, actor, _action(changes), subject_id=user_id, subject=before.login, changes=changes
            )
        after = await _found(connection, user_id)
    parts.callers.forget()
    return _shown(after)


@router.delete("/{user_id}", status_code=204, responses=refusals(401, 403, 404, 409, 422))
async def delete_user(request: Request, user_id: UUID, caller: Administrator) -> None:
    """Remove an account that has no workspaces. Its sessions and tokens go with it; the audit log keeps its name."""
    parts = parts_of(request)
    async with parts.writes.begin() as connection:
        administrators = await users.lock_administrators(connection)
        user = await _found(connection, user_id)
        if administrators == {user_id}:
            raise LastAdministrator
        owned = await users.workspaces_of(connection, user_id)
        if owned:
            raise WorkspacesRemain(
                f"{user.login} still has workspaces, or deleted ones that can be brought back. Delete them and"
                " wait until they are gone; disable the account meanwhile.",
                workspaces=[
                    {"id": str(each["id"]), "name": each["name"], "deleted": each["deleted_at"] is not None}
                    for each in owned
                ],
            )
        await users.delete_user(connection, user_id)
        await audit.record(connection, actor_of(request, caller), "user.delete", subject_id=user_id, subject=user.login)
    parts.callers.forget()


@router.post("/{user_id}/password", responses=refusals(*BODY, 401, 403, 404))
async def reset_password(request: Request, user_id: UUID, sent: ResetPassword, caller: Administrator) -> PasswordReset:
    """Give an account a new password. All its sessions end; its API tokens stay unless it is asked."""
    parts = parts_of(request)
    async with parts.writes.connect() as connection:
        user = await _found(connection, user_id)
    password = sent.password or secrets.token_urlsafe(18)
    newer = await _hashed(parts, password, user.login)
    async with parts.writes.begin() as connection:
        if not await users.change_password(connection, user_id, newer, present=None):
            raise Missing("There is no such user.")
        ended = await sessions.end_all(connection, user_id)
        revoked = await tokens.revoke_all(connection, user_id) if sent.revoke_tokens else 0
        await login_codes.withdraw_codes(connection, user_id)
        actor = actor_of(request, caller)
        await audit.record(
            connection, actor, "user.reset_password", subject_id=user_id, subject=user.login, tokens=revoked
        )
    parts.callers.forget()
    generated = None if sent.password else password
    return PasswordReset(password=generated, sessions_ended=ended, tokens_revoked=revoked)


@router.delete("/{user_id}/sessions", responses=refusals(401, 403, 404, 422))
async def end_sessions(request: Request, user_id: UUID, caller: Administrator) -> SessionsEnded:
    """Log an account out everywhere, within a second. Its API tokens stay good."""
    parts = parts_of(request)
    async with parts.writes.begin() as connection:
        user = await _found(connection, user_id)
        ended = await sessions.end_all(connection, user_id)
        actor = actor_of(request, caller)
        await audit.record(connection, actor, "user.end_sessions", subject_id=user_id, subject=user.login, ended=ended)
    parts.callers.forget()
    return SessionsEnded(ended=ended)


async def _change(connection: AsyncConnection, before: users.User, changes: dict[str, object]) -> None:
    try:
        await users.change_user(connection, before.id, changes)
    except users.LoginTakenError:
        raise LoginTaken(f"There is already an account {changes['login']}.") from None
    if changes.get("disabled"):
        await tokens.revoke_all(connection, before.id)
        await login_codes.withdraw_codes(connection, before.id)
    if changes.get("disabled") or "role" in changes:
        await sessions.end_all(connection, before.id)


def _action(changes: dict[str, object]) -> str:
    """The weightiest word for it; the entry's detail tells all of it."""
    if "disabled" in changes:
        return "user.disable" if changes["disabled"] else "user.enable"
    return "user.change_role" if "role" in changes else "user.change"


async def _found(connection: AsyncConnection, user_id: UUID) -> users.User:
    user = await users.find_user(connection, user_id)
    if user is None:
        raise Missing("There is no such user.")
    return user


async def _hashed(parts: Parts, password: str, login: str) -> str:
    if (wrong := weakness(password, login)) is not None:
        raise WeakPassword(wrong)
    return await parts.passwords.hash(password)


def _shown(user: users.User) -> User:
    return User.model_validate(user, from_attributes=True)
