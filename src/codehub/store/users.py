"""User accounts, as administrators and logins see and change them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, RowMapping, delete, func, insert, select, text, tuple_, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.model.accounts import Role
from codehub.store.tables import users, workspaces


@dataclass(frozen=True, slots=True)
class User:
    id: UUID
    login: str
    role: Role
    max_running: int | None
    locale: str | None
    disabled: bool
    last_login_at: datetime | None
    created_at: datetime
    workspaces: int
    """Living ones."""


@dataclass(frozen=True, slots=True)
class NewUser:
    login: str
    password_hash: str = field(repr=False)
    role: Role
    max_running: int | None
    locale: str | None


@dataclass(frozen=True, slots=True)
class Known:
    """What a login needs to know of an account."""

    id: UUID
    login: str
    password_hash: str = field(repr=False)
    disabled: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which users to list: all those that fit, from behind the last one of the page before."""

    search: str = ""
    role: Role | None = None
    disabled: bool | None = None
    after: tuple[str, UUID] | None = None


class LoginTakenError(Exception):
    """Another account has this login, whatever its capitals."""


_LIVING = (
    select(func.count())
    .where(workspaces.c.owner_user_id == users.c.id, workspaces.c.deleted_at.is_(None))
    .scalar_subquery()
)
_COLUMNS = [
    users.c.id,
    users.c.login,
    users.c.role,
    users.c.max_running,
    users.c.locale,
    users.c.disabled,
    users.c.last_login_at,
    users.c.created_at,
    _LIVING.label("workspaces"),
]
_KNOWN = select(users.c.id, users.c.login, users.c.password_hash, users.c.disabled)

# All of them, always in the same order: whoever takes an administrator's rights waits here for whoever does the same.
_LOCK_ADMINISTRATORS = text("SELECT id FROM users WHERE role = 'admin' AND NOT disabled ORDER BY id FOR NO KEY UPDATE")
_LOGGED_IN = text("""
    UPDATE users SET last_login_at = clock_timestamp(), password_hash = coalesce(:newer_hash, password_hash)
    WHERE id = :id AND NOT disabled AND password_hash = :password_hash RETURNING id
""")
_CHANGE_PASSWORD = text("""
    UPDATE users SET password_hash = :newer, updated_at = clock_timestamp()
    WHERE id = :id AND (CAST(:present AS text) IS NULL OR password_hash = :present) RETURNING id
""")


async def by_login(connection: AsyncConnection, login: str) -> Known | None:
    row = (await connection.execute(_KNOWN.where(func.lower(users.c.login) == login.lower()))).first()
    return Known(*row) if row is not None else None


async def known(connection: AsyncConnection, user_id: UUID) -> Known | None:
    row = (await connection.execute(_KNOWN.where(users.c.id == user_id))).first()
    return Known(*row) if row is not None else None


async def logged_in(connection: AsyncConnection, user: Known, newer_hash: str | None) -> bool:
    """Note the login. False where the account was disabled, or its password changed, while this one was checked."""
    values = {"id": user.id, "password_hash": user.password_hash, "newer_hash": newer_hash}
    return (await connection.execute(_LOGGED_IN, values)).first() is not None


async def change_password(connection: AsyncConnection, user_id: UUID, newer: str, *, present: str | None) -> bool:
    """False where there is no such user, or the password is no longer the one with the hash `present`."""
    values = {"id": user_id, "newer": newer, "present": present}
    return (await connection.execute(_CHANGE_PASSWORD, values)).first() is not None


async def list_users(connection: AsyncConnection, wanted: Wanted, limit: int) -> Sequence[User]:
    name = func.lower(users.c.login)
    guards: list[ColumnElement[bool]] = []
    if wanted.search:
        guards.append(name.contains(wanted.search.lower(), autoescape=True))
    if wanted.role is not None:
        guards.append(users.c.role == wanted.role)
    if wanted.disabled is not None:
        guards.append(users.c.disabled == wanted.disabled)
    if wanted.after is not None:
        guards.append(tuple_(name, users.c.id) > wanted.after)
    found = await connection.execute(select(*_COLUMNS).where(*guards).order_by(name, users.c.id).limit(limit))
    return [_user(row) for row in found.mappings()]


async def find_user(connection: AsyncConnection, user_id: UUID) -> User | None:
    row = (await connection.execute(select(*_COLUMNS).where(users.c.id == user_id))).mappings().first()
    return _user(row) if row is not None else None


async def create_user(connection: AsyncConnection, new: NewUser) -> UUID:
    values = {
        "id": (user_id := uuid4()),
        "login": new.login,
        "password_hash": new.password_hash,
        "role": new.role,
        "max_running": new.max_running,
        "locale": new.locale,
    }
    try:
        await connection.execute(insert(users).values(values))
    except IntegrityError as error:
        raise LoginTakenError from error
    return user_id


async def lock_administrators(connection: AsyncConnection) -> frozenset[UUID]:
    """Those who can log in and administer. Until this transaction ends, none is added to them or taken from them by
    another that asks here too."""
    return frozenset((await connection.execute(_LOCK_ADMINISTRATORS)).scalars())


async def change_user(connection: AsyncConnection, user_id: UUID, changes: Mapping[str, Any]) -> None:
    changed = update(users).where(users.c.id == user_id).values(**changes, updated_at=func.clock_timestamp())
    try:
        await connection.execute(changed)
    except IntegrityError as error:
        raise LoginTakenError from error


async def workspaces_of(connection: AsyncConnection, user_id: UUID) -> Sequence[RowMapping]:
    """Everything that still needs its owner: what lives, and what was deleted and is still kept. The account is locked,
    so that none is added before this transaction ends."""
    await connection.execute(select(users.c.id).where(users.c.id == user_id).with_for_update())
    owned = select(workspaces.c.id, workspaces.c.name, workspaces.c.deleted_at)
    of_user = owned.where(workspaces.c.owner_user_id == user_id).order_by(workspaces.c.name, workspaces.c.id)
    return (await connection.execute(of_user)).mappings().all()


async def delete_user(connection: AsyncConnection, user_id: UUID) -> None:
    await connection.execute(delete(users).where(users.c.id == user_id))


def _user(row: RowMapping) -> User:
    return User(**{**row, "role": Role(row["role"])})
