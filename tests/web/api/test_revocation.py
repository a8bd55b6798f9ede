"""A right that is taken away is gone in every process, soon."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from codehub.archives.open import open_store
from codehub.settings import Settings
from codehub.web.app import Dependencies, create_app
from tests.web.api.people import People, User

DEADLINE_SECONDS = 20
TakeAway = Callable[[People, User, httpx.AsyncClient], Awaitable[None]]


@pytest.fixture
async def elsewhere(settings: Settings, database_url: str, redis_url: str, archives: Path) -> AsyncIterator[FastAPI]:
    """Another process, as far as it matters: an application of its own on the same database."""
    app = create_app(settings, Dependencies(database_url, redis_url, open_store(archives.as_uri())))
    async with app.router.lifespan_context(app):
        yield app


async def until_nobody(client: httpx.AsyncClient) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while (await client.get("/api/v1/me")).status_code != 401:
            await asyncio.sleep(0.05)


def there(elsewhere: FastAPI, like: httpx.AsyncClient) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(elsewhere)
    return httpx.AsyncClient(transport=transport, base_url=like.base_url, headers=like.headers, cookies=like.cookies)


async def revoke_session(_people: People, _user: User, browser: httpx.AsyncClient) -> None:
    await browser.post("/api/v1/auth/logout")


async def disable(people: People, user: User, _browser: httpx.AsyncClient) -> None:
    administrator = await people.browser(await people.administrator())
    await administrator.patch(f"/api/v1/admin/users/{user.id}", json={"disabled": True})


async def delete(people: People, user: User, _browser: httpx.AsyncClient) -> None:
    administrator = await people.browser(await people.administrator())
    await administrator.delete(f"/api/v1/admin/users/{user.id}")


@pytest.mark.parametrize("take_away", [revoke_session, disable, delete])
async def test_who_loses_a_session_here_loses_it_elsewhere(
    people: People, elsewhere: FastAPI, take_away: TakeAway
) -> None:
    user = await people.user()
    browser = await people.browser(user)
    async with there(elsewhere, browser) as other:
        assert (await other.get("/api/v1/me")).status_code == 200
        await take_away(people, user, browser)
        await until_nobody(other)
