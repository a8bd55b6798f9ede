"""Users, sessions and tokens, put into the database as they would be there, and clients that carry them."""

import contextlib
import re
import secrets
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx
from argon2 import PasswordHasher
from fastapi import FastAPI

from codehub.model.accounts import Role, Scope
from codehub.store.callers import hashed
from codehub.web.callers import CSRF_HEADER, TOKEN_PREFIX, csrf_token

ORIGIN = "http://codehub.test"
PASSWORD = "correct horse battery staple"


@dataclass(frozen=True)
class User:
    id: UUID
    login: str


@dataclass(frozen=True)
class Secret:
    """A session or token: its row, and what a client has to show."""

    id: UUID
    value: str = field(repr=False)


class People:
    def __init__(self, app: FastAPI, pool: asyncpg.Pool, clients: contextlib.AsyncExitStack) -> None:
        self.app = app
        self.pool = pool
        self._clients = clients

    async def user(self, login: str = "", role: Role = Role.USER, *, password: str = "", **columns: Any) -> User:  # noqa: ANN401
        """An account. Without a password nobody can log in to it, which saves the time of hashing one."""
        made = User(uuid4(), login or f"user-{secrets.token_hex(4)}")
        values = {
            "id": made.id,
            "login": made.login,
            "role": role,
            "password_hash": PasswordHasher().hash(password) if password else "!",
            **columns,
        }
        await self._insert("users", values)
        return made

    async def administrator(self, login: str = "", *, password: str = "") -> User:
        return await self.user(login, Role.ADMIN, password=password)

    async def session(self, user: User, **columns: Any) -> Secret:  # noqa: ANN401
        made = Secret(uuid4(), secrets.token_urlsafe(32))
        values = {"id": made.id, "user_id": user.id, "secret_hash": hashed(made.value), "address": "192.0.2.1"}
        ends = await self.pool.fetchval("SELECT clock_timestamp() + interval '1 hour'")
        await self._insert("sessions", {**values, "expires_at": ends, **columns})
        return made

    async def token(self, user: User, *scopes: Scope, **columns: Any) -> Secret:  # noqa: ANN401
        """By default it may do what its user may do with workspaces."""
        made = Secret(uuid4(), TOKEN_PREFIX + secrets.token_urlsafe(32))
        values = {
            "id": made.id,
            "user_id": user.id,
            "name": "test",
            "secret_hash": hashed(made.value),
            "hint": made.value[-4:],
            "scopes": list(scopes or (Scope.WORKSPACES,)),
        }
        await self._insert("api_tokens", {**values, **columns})
        return made

    async def client(self, *, address: str = "192.0.2.1", **options: Any) -> httpx.AsyncClient:  # noqa: ANN401
        """Nobody in particular, from this address."""
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False, client=(address, 50000))
        made = httpx.AsyncClient(transport=transport, base_url=ORIGIN, **options)
        return await self._clients.enter_async_context(made)

    async def browser(self, user: User, session: Secret | None = None) -> httpx.AsyncClient:
        """A page of ours, in the browser of somebody who is logged in."""
        secret = (session or await self.session(user)).value
        headers = {"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin", CSRF_HEADER: csrf_token(secret)}
        return await self.client(headers=headers, cookies={self.app.state.callers.cookie_name: secret})

    async def program(self, user: User, *scopes: Scope, token: Secret | None = None) -> httpx.AsyncClient:
        """A program with a token."""
        secret = (token or await self.token(user, *scopes)).value
        return await self.client(headers={"Authorization": f"Bearer {secret}"})

    async def _insert(self, table: str, values: dict[str, Any]) -> None:
        places = ", ".join(f"${number}" for number in range(1, len(values) + 1))
        statement = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})"  # noqa: S608 (names of our own)
        await self.pool.execute(statement, *values.values())


def form_token(page: httpx.Response) -> str:
    """What the forms of a page bring along."""
    found = re.search(r'name="csrf_token" value="(\w+)"', page.text)
    assert found is not None, page.text
    return found[1]
