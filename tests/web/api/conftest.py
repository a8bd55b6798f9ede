"""The application on real services, and people who use it.

A module that needs other settings, or a way to cut the database off, overrides `settings` or `app_database_url`."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
from fastapi import FastAPI

from codehub.archives.open import open_store
from codehub.settings import Settings
from codehub.web.app import Dependencies, create_app
from tests.web.api.people import People, User
from tests.web.api.shelf import Shelf
from tests.web.api.workspaces import Owner, make_template


@pytest.fixture
def app_database_url(database_url: str) -> str:
    """How the application reaches its database; the test itself always does directly."""
    return database_url


@pytest.fixture
async def app(settings: Settings, app_database_url: str, redis_url: str, archives: Path) -> AsyncIterator[FastAPI]:
    app = create_app(settings, Dependencies(app_database_url, redis_url, open_store(archives.as_uri())))
    async with app.router.lifespan_context(app):
        yield app


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[asyncpg.Pool]:
    """To look into the database beside the application."""
    async with asyncpg.create_pool(database_url, min_size=0, max_size=4) as pool:
        yield pool


@pytest.fixture
async def people(app: FastAPI, pool: asyncpg.Pool) -> AsyncIterator[People]:
    async with contextlib.AsyncExitStack() as clients:
        yield People(app, pool, clients)


@pytest.fixture
async def root(people: People) -> User:
    return await people.administrator("root")


@pytest.fixture
async def user(people: People, pool: asyncpg.Pool) -> User:
    """Somebody who can make workspaces: there is a template."""
    await make_template(pool)
    return await people.user("ada")


@pytest.fixture
async def ada(people: People, pool: asyncpg.Pool, user: User) -> Owner:
    return Owner(await people.program(user), pool)


@pytest.fixture
def shelf(pool: asyncpg.Pool, archives: Path) -> Shelf:
    """The archives that the application knows of."""
    return Shelf(pool, open_store(archives.as_uri()))
